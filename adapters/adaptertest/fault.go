package adaptertest

import (
	"context"
	"fmt"
	"strings"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"rcbench/adapters"
)

// A fault is a proxy before the server that keeps replies back, or cuts
// connections in the middle of one. Requests always pass.
//
// Note: toxiproxy forwards TCP only. A unix socket breaks in the same ways,
// and no client has other code for it after the dial.
type fault struct{ proxy *toxiproxy.Proxy }

// fault starts a proxy, and returns it with the way to the server through it.
// A check may start several.
func (e *Env) fault(ctx context.Context) (*fault, adapters.Config, error) {
	cfg, err := e.config()
	if err != nil {
		return nil, cfg, err
	}
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, e.prefix, "127.0.0.1:0", cfg.Addr)
	unlabelled(ctx, func() { err = proxy.Start() })
	if err != nil {
		return nil, cfg, fmt.Errorf("starting the proxy: %w", err)
	}
	e.atEnd(proxy.Stop)
	cfg.Addr = proxy.Listen
	return &fault{proxy}, cfg, nil
}

// silence keeps back all replies from now on. The connections stay open.
func (f *fault) silence(ctx context.Context) error {
	return f.add(ctx, `{"type": "timeout", "attributes": {"timeout": 0}}`)
}

// cut closes each connection after n more bytes of replies.
func (f *fault) cut(ctx context.Context, n int) error {
	return f.add(ctx, fmt.Sprintf(`{"type": "limit_data", "attributes": {"bytes": %d}}`, n))
}

func (f *fault) add(ctx context.Context, toxic string) (err error) {
	unlabelled(ctx, func() { _, err = f.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)) })
	if err != nil {
		return fmt.Errorf("proxy: adding %s: %w", toxic, err)
	}
	return nil
}
