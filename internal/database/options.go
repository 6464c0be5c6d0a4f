// Package database keeps the ClickHouse that a process uses: it is opened in the background when it
// is first needed, shared by everything that uses it, and opened again when it was lost. The SQL of
// models and the delivery of earlier sessions are two such users.
package database

import (
	"cmp"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/failure"
)

// EnvDSN names the variable with the DSN of a ClickHouse server.
const EnvDSN = "WINDLASS_CLICKHOUSE_DSN"

// Options returns which ClickHouse is used: the server of the environment, else that of
// windlass.json, else the embedded engine. Without a cache it is the folder that the environment
// says. The error is a [*failure.Error].
func Options(home, cache string, cfg *config.Config) (clickhouse.Options, error) {
	if cache == "" {
		var err error
		if cache, err = config.CacheDir(); err != nil {
			return clickhouse.Options{}, failure.New(failure.StorageFailed, err, "set WINDLASS_CACHE to a folder")
		}
	}
	return clickhouse.Options{
		DSN: cmp.Or(environment.Getenv(EnvDSN), cfg.ClickHouseDSN), Home: home, CacheDir: cache, RequireSandbox: cfg.RequireSandbox,
	}, nil
}
