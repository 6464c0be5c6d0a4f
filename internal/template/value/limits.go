package value

import (
	"errors"
	"fmt"
)

const (
	maxWork  = 4 << 20 // steps: one for each operation and for each bytesPerStep bytes it handles
	maxItems = 100_000 // items of a list that a template makes
	maxDepth = 200     // values inside values

	bytesPerStep = 16
)

// ErrLimit is the cause when a template did, wrote, or nested more than allowed.
var ErrLimit = errors.New("template limit reached")

// Run counts the work of one rendering. Operations on values are its methods, so that each of them
// is counted. It belongs to one goroutine.
type Run struct {
	MaxOutput int // bytes of the output, and of any text on the way to it
	work      int
}

// Limitf returns an error that wraps [ErrLimit].
func Limitf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrLimit)
}

// Spend counts n steps of work.
func (r *Run) Spend(n int) error {
	r.work += n
	if r.work > maxWork || r.work < 0 {
		return Limitf("the template does too much work (more than %d steps); make its loops smaller", maxWork)
	}
	return nil
}

// SpendBytes counts the work on n bytes, and refuses texts longer than the output may be.
func (r *Run) SpendBytes(n int) error {
	if n > r.MaxOutput || n < 0 {
		return r.tooLong()
	}
	return r.Spend(n/bytesPerStep + 1)
}

// SpendItems counts the work of making a list of n items, and refuses lists that are too long.
func (r *Run) SpendItems(n int) error {
	if n > maxItems || n < 0 {
		return Limitf("a list has more than %d items", maxItems)
	}
	return r.Spend(n)
}

// Append returns out with s behind it, unless that is more than the output may be.
func (r *Run) Append(out []byte, s string) ([]byte, error) {
	if len(out)+len(s) > r.MaxOutput {
		return out, r.tooLong()
	}
	return append(out, s...), nil
}

func (r *Run) tooLong() error {
	return Limitf("the text is longer than %d bytes; use the filter truncate", r.MaxOutput)
}
