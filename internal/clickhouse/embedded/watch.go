package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	idleEnv     = "WINDLASS_ENGINE_IDLE"
	defaultIdle = time.Minute
)

// probeEvery is the pause between two probes of ClickHouse. It is a variable for tests.
var probeEvery = 15 * time.Second

const (
	probeTimeout = 10 * time.Second
	probeTries   = 4 // a busy machine answers late, and is not ended for that
)

// errSilent is why an engine ends whose ClickHouse takes connections and does not answer.
var errSilent = errors.New("ClickHouse does not answer any more")

// errDeaf is why an engine ends whose ClickHouse runs and does not listen.
var errDeaf = errors.New("ClickHouse does not listen on its port any more")

// idleTime returns how long the engine stays without clients: $WINDLASS_ENGINE_IDLE, or a minute.
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
	gate     *gate
	pause    time.Duration // between two probes
}

// watch returns when the engine has to end; with an error when it should have gone on.
func watch(ctx context.Context, w watcher, c *process) error {
	tick := time.NewTicker(min(max(w.idle/6, 20*time.Millisecond), 5*time.Second))
	defer tick.Stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := make(chan struct{})
	go w.probe(ctx, silent)
	var last uint64
	busy := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.done():
			return c.err()
		case <-w.gate.deaf:
			return errDeaf
		case <-silent:
			return errSilent
		case <-tick.C:
		}
		trimLog(filepath.Join(w.dir, logFile))
		if !w.folderIsOurs() {
			return nil
		}
		open, served := w.gate.activity()
		if open > 0 || served != last {
			busy, last = time.Now(), served
		}
		if time.Since(busy) >= w.idle {
			return nil
		}
	}
}

// probe asks ClickHouse now and then, at its own port so that nobody is taken for a client, and
// closes silent when it has not answered several times in a row.
func (w watcher) probe(ctx context.Context, silent chan<- struct{}) {
	tick := time.NewTicker(w.pause)
	defer tick.Stop()
	for failed := 0; failed < probeTries; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if pingPort(ctx, w.endpoint) == nil {
			failed = 0
		} else {
			failed++
		}
	}
	close(silent)
}

// trimLog truncates a log that has grown too large. Its writers append.
func trimLog(path string) {
	if info, err := os.Stat(path); err == nil && info.Size() > logKeep {
		_ = os.Truncate(path, 0) // tried again at the next look
	}
}

// folderIsOurs reports whether the folder was neither deleted nor made again: by its endpoint.
func (w watcher) folderIsOurs() bool {
	if _, err := os.Stat(dataPath(w.dir)); err != nil {
		return false
	}
	e, err := readEndpoint(w.dir)
	return err == nil && e != nil && e.PID == w.endpoint.PID && e.Password == w.endpoint.Password
}
