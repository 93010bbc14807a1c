// Package rueidiscompat drives github.com/redis/rueidis/rueidiscompat, the
// API of go-redis on top of rueidis: what a program gets that moves from one to
// the other without a rewrite.
//
// Connections, what they send, and their memory are those of package rueidis.
// What is added is the cost of the API: a command object for each call,
// arguments in interfaces, and a copy of each value, because StringCmd.Bytes
// converts where go-redis' own does not.
package rueidiscompat

import (
	"context"

	"github.com/redis/rueidis/rueidiscompat"

	"rcbench/adapters"
	"rcbench/adapters/rueidis"
)

// Driver is the driver of rueidiscompat.
var Driver adapters.Driver = driver{}

type driver struct{}

var _ adapters.Driver = driver{}

func (driver) Name() string    { return "rueidiscompat" }
func (driver) Version() string { return adapters.LinkedVersion(rueidiscompat.NewAdapter) }

func (driver) Lacks() map[adapters.Capability]string { return rueidis.Driver.Lacks() }

func (d driver) Dial(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	conn, err := rueidis.Connect(ctx, d.Name(), cfg, rueidis.Own, 1)
	if err != nil {
		return nil, err
	}
	return &client{conn, rueidiscompat.NewAdapter(conn)}, nil
}

func (d driver) Share(ctx context.Context, cfg adapters.Config) (adapters.Client, error) {
	conn, err := rueidis.Connect(ctx, d.Name(), cfg, rueidis.Shared, 1)
	if err != nil {
		return nil, err
	}
	return &shared{client{conn, rueidiscompat.NewAdapter(conn)}}, nil
}

func (d driver) Open(ctx context.Context, cfg adapters.Config, conns int) (adapters.Client, error) {
	conn, err := rueidis.Connect(ctx, d.Name(), cfg, rueidis.Pool, conns)
	if err != nil {
		return nil, err
	}
	return &client{conn, rueidiscompat.NewAdapter(conn)}, nil
}
