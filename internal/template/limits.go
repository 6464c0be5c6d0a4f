package template

import (
	"fmt"
)

const (
	// DefaultMaxOutput is how many bytes a template may write.
	DefaultMaxOutput = 4 << 20

	maxSource = 1 << 20 // bytes of a template's text
	maxWork   = 4 << 20 // steps: one for each operation and for each bytesPerStep bytes it handles
	maxItems  = 100_000 // items of a list that a template makes
	maxCalls  = 50      // macros inside macros

	bytesPerStep = 16
)

// run is one rendering: its variables, its output, and what is left of its limits. It belongs to one goroutine.
type run struct {
	vars      map[string]any
	out       []byte
	maxOutput int
	work      int
	calls     int
	warnings  []string
	placed    []span // the values in a command, in their order
}

// span is a word of the output that a value was written as.
type span struct {
	start, end int
	number     bool // there is nothing in it for a shell to evaluate
}

func limitf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrLimit)
}

// spend counts n steps of work.
func (r *run) spend(n int) error {
	r.work += n
	if r.work > maxWork || r.work < 0 {
		return limitf("the template does too much work (more than %d steps); make its loops smaller", maxWork)
	}
	return nil
}

// spendBytes counts the work of handling n bytes, and refuses strings that are longer than the output may be.
func (r *run) spendBytes(n int) error {
	if n > r.maxOutput || n < 0 {
		return r.tooLong()
	}
	return r.spend(n/bytesPerStep + 1)
}

func (r *run) spendItems(n int) error {
	if n > maxItems || n < 0 {
		return limitf("a list has more than %d items", maxItems)
	}
	return r.spend(n)
}

func (r *run) tooLong() error {
	return limitf("the text is longer than %d bytes; use the filter truncate", r.maxOutput)
}

func (r *run) write(s string) error {
	if len(r.out)+len(s) > r.maxOutput {
		return r.tooLong()
	}
	r.out = append(r.out, s...)
	return nil
}
