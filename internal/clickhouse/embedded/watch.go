package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

const (
	idleEnv     = "WINDLASS_ENGINE_IDLE"
	defaultIdle = time.Minute
)

// idleTime returns how long the engine stays without clients: a Go duration in $WINDLASS_ENGINE_IDLE, else a minute.
func idleTime() (time.Duration, error) {
	v := os.Getenv(idleEnv)
	if v == "" {
		return defaultIdle, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s=%q is not a duration above zero such as 30s or 5m", idleEnv, v)
	}
	return d, nil
}

// watcher decides when the engine process ends.
type watcher struct {
	dir      string
	endpoint Endpoint
	idle     time.Duration
}

// activity is what ClickHouse counts: open client connections, and queries since it started. The watcher's own
// connection and its own questions are part of both.
type activity struct{ connections, queries int64 }

// watch returns when the engine has ended, was told to end, had no clients for the idle time, or has lost its folder.
func watch(ctx context.Context, w watcher, ended <-chan struct{}) {
	conn, err := connect(w.endpoint)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	tick := time.NewTicker(min(max(w.idle/6, 20*time.Millisecond), 5*time.Second))
	defer tick.Stop()
	var last activity
	busy := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			return
		case <-tick.C:
		}
		trimLog(filepath.Join(w.dir, logFile))
		now, err := ask(ctx, conn)
		if !w.folderIsOurs() {
			return
		}
		if err != nil || now.busySince(last) {
			busy = time.Now()
		}
		last = now
		if time.Since(busy) >= w.idle {
			return
		}
	}
}

// trimLog begins a log anew that has grown too large. Who writes to it appends, and so goes on at its new end.
func trimLog(path string) {
	if info, err := os.Stat(path); err == nil && info.Size() > logKeep {
		_ = os.Truncate(path, 0) // tried again at the next look
	}
}

// busySince reports whether there was a client besides the watcher: one connected now, or one that came and went.
func (a activity) busySince(last activity) bool {
	return a.connections > 1 || a.queries-last.queries > 1
}

func ask(ctx context.Context, conn clickhouse.Conn) (activity, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var a activity
	err := conn.QueryRow(ctx, `SELECT sumIf(value, what = 'TCPConnection'), sumIf(value, what = 'Query') FROM (
		SELECT metric AS what, value FROM system.metrics WHERE metric = 'TCPConnection'
		UNION ALL SELECT event, toInt64(value) FROM system.events WHERE event = 'Query')`).Scan(&a.connections, &a.queries)
	return a, err
}

// folderIsOurs reports whether the endpoint in the folder is still the one that this process wrote. It is not when the
// folder was deleted, or deleted and made again.
func (w watcher) folderIsOurs() bool {
	if _, err := os.Stat(filepath.Join(w.dir, dataDir)); err != nil {
		return false
	}
	e, err := readEndpoint(w.dir)
	return err == nil && e != nil && e.PID == w.endpoint.PID && e.Password == w.endpoint.Password
}
