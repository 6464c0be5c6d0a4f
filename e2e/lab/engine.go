//go:build unix

package lab

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/config"
)

// NewWithEngine returns a world whose runs are recorded in an embedded engine of its own. The engine ends with the test.
func NewWithEngine(t testing.TB, bin string) *World {
	t.Helper()
	w := New(t, bin)
	cache, err := config.CacheDir()
	w.Must(err)
	w.Setenv("WINDLASS_CACHE", cache)
	w.Setenv("WINDLASS_CLICKHOUSE_DSN", "")
	w.Setenv("WINDLASS_ENGINE_IDLE", "5m")
	w.Memory = 0 // ClickHouse reserves what it never uses
	t.Cleanup(func() { w.stopEngine() })
	return w
}

// Engine returns the endpoint of the world's engine, which runs afterwards.
func (w *World) Engine() embedded.Endpoint {
	w.T.Helper()
	if o := w.Run("sql", "SELECT 1"); o.Code != 0 {
		w.T.Fatalf("the engine does not start: %s", o.Err)
	}
	e, err := embedded.Running(w.EngineDir())
	w.Must(err)
	if e == nil {
		w.T.Fatal("no engine is running")
	}
	return *e
}

// EngineDir returns the folder of the world's engine.
func (w *World) EngineDir() string { return filepath.Join(w.Home, "clickhouse") }

// stopEngine ends the engine, if one runs, and waits for its end.
func (w *World) stopEngine() {
	e, err := embedded.Running(w.EngineDir())
	if err != nil || e == nil {
		return
	}
	_ = syscall.Kill(e.PID, syscall.SIGTERM) // it may have ended
	for end := time.Now().Add(Bound); time.Now().Before(end); {
		if errors.Is(syscall.Kill(e.PID, 0), os.ErrProcessDone) || syscall.Kill(e.PID, 0) != nil {
			return
		}
		time.Sleep(10 * time.Millisecond) // it is no child of this process, so there is nothing to wait for
	}
	_ = syscall.Kill(e.PID, syscall.SIGKILL)
}
