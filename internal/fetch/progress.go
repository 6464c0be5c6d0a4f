package fetch

import (
	"io/fs"
	"path/filepath"
	"time"
)

// Step is a stage on the way to a file that takes long enough to be told, as a person reads it.
type Step string

// Steps names the stages of one [Item] in their order. Waiting may come before any.
type Steps struct {
	Wait, Download, Verify, Unpack Step
}

// Progress is how far a step is. Done and Total are bytes; Total is 0 where it is not known.
type Progress struct {
	Step  Step
	Done  int64
	Total int64
}

// Tell calls a progress function that may be nil.
func Tell(progress func(Progress), p Progress) {
	if progress != nil {
		progress(p)
	}
}

// Meter is an io.Writer that reports what passes it, once per hundredth at most.
type Meter struct {
	progress func(Progress)
	state    Progress
	told     int64
}

// NewMeter returns a meter of a step. total is 0 if unknown; progress may be nil.
func NewMeter(step Step, total int64, progress func(Progress)) *Meter {
	return &Meter{progress: progress, state: Progress{Step: step, Total: total}}
}

func (m *Meter) Write(b []byte) (int, error) {
	m.state.Done += int64(len(b))
	if step := max(m.state.Total/100, 1<<20); m.state.Done-m.told >= step || m.state.Done == m.state.Total {
		m.told = m.state.Done
		Tell(m.progress, m.state)
	}
	return len(b), nil
}

// watchSize reports the size of dir until stop is called, which waits for the last report.
func watchSize(dir string, state Progress, progress func(Progress)) (stop func()) {
	Tell(progress, state)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				state.Done = min(dirSize(dir), state.Total)
				Tell(progress, state)
			}
		}
	}()
	return func() { close(quit); <-done }
}

// dirSize sums up the files below dir. Files that vanish meanwhile count as nothing.
func dirSize(dir string) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // a file that is gone is not an error here
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}
