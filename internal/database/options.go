// Package database keeps the one ClickHouse of a process, and opens it again when it was lost.
package database

import (
	"cmp"
	"context"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/failure"
)

// EnvDSN names the variable with the DSN of a ClickHouse server.
const EnvDSN = "WINDLASS_CLICKHOUSE_DSN"

// Options returns which ClickHouse is used: that of the environment, else of windlass.json, else
// the embedded engine. An empty cache is that of the environment. The error is a [*failure.Error].
func Options(home, cache string, cfg *config.Config) (clickhouse.Options, error) {
	if cache == "" {
		var err error
		if cache, err = config.CacheDir(); err != nil {
			return clickhouse.Options{}, failure.New(failure.StorageFailed, err, "set WINDLASS_CACHE to a folder")
		}
	}
	return clickhouse.Options{
		Engine: embedded.ConfigFromEnv(cache),
		DSN:    cmp.Or(environment.Getenv(EnvDSN), cfg.ClickHouseDSN), Home: home, CacheDir: cache, RequireSandbox: cfg.RequireSandbox,
	}, nil
}

// AllowEngine asks the gate of o at once about the download of the engine, when there is one to
// come. The error is that of the gate.
func AllowEngine(ctx context.Context, o clickhouse.Options) error {
	if o.DSN != "" || o.Engine.Gate == nil {
		return nil
	}
	if e, err := embedded.Running(clickhouse.EngineDir(o.Home)); err == nil && e != nil {
		return nil
	}
	return embedded.Allow(ctx, o.Engine)
}

// CheckEngine reports why there is no embedded engine to use, without starting or fetching one.
func CheckEngine(ctx context.Context, o clickhouse.Options) error {
	if e, err := embedded.Running(clickhouse.EngineDir(o.Home)); err == nil && e != nil {
		return nil
	}
	_, _, err := embedded.Survey(ctx, o.Engine)
	return err
}
