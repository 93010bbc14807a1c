// Package all lists the drivers. It is the only place, besides the folder of
// the client itself, that names a client.
package all

import (
	"fmt"
	"slices"
	"strings"

	"rcbench/adapters"
	"rcbench/adapters/goredis"
	"rcbench/adapters/goredisauto"
	"rcbench/adapters/radix"
	"rcbench/adapters/redigo"
	"rcbench/adapters/resp"
	"rcbench/adapters/rueidis"
	"rcbench/adapters/rueidiscompat"
	"rcbench/adapters/valkey"
)

var drivers = []adapters.Driver{
	goredis.Driver,
	goredisauto.Driver,
	radix.Driver,
	redigo.Driver,
	resp.Driver,
	rueidis.Driver,
	rueidiscompat.Driver,
	valkey.Driver,
}

// Drivers returns all drivers, sorted by name.
func Drivers() []adapters.Driver { return slices.Clone(drivers) }

// Lookup returns the drivers with the given names, in the order of the names.
// The error for a name that is not known lists those that are.
func Lookup(names ...string) ([]adapters.Driver, error) {
	found := make([]adapters.Driver, len(names))
	for i, name := range names {
		at := slices.IndexFunc(drivers, func(d adapters.Driver) bool { return d.Name() == name })
		if at < 0 {
			return nil, fmt.Errorf("unknown client %q: known are %s", name, strings.Join(known(), ", "))
		}
		found[i] = drivers[at]
	}
	return found, nil
}

func known() []string {
	names := make([]string, len(drivers))
	for i, d := range drivers {
		names[i] = d.Name()
	}
	return names
}
