package value

import (
	"errors"
	"fmt"
)

const (
	maxWork   = 4 << 20 // steps: one for each operation and for each bytesPerStep bytes it handles
	maxOutput = 4 << 20 // bytes of the output, and of any text on the way to it
	maxItems  = 100_000 // items of a list that a template makes
	maxDepth  = 200     // values inside values

	bytesPerStep = 16
)

// ErrLimit is the cause when a template did, wrote, or nested more than allowed.
var ErrLimit = errors.New("template limit reached")

// Failure is what a failed operation panics with; whoever renders recovers it.
type Failure struct{ Err error }

// Failf returns a failure with a message.
func Failf(format string, args ...any) Failure { return Failure{fmt.Errorf(format, args...)} }

// Run counts the work of one rendering: operations are its methods, and none returns beyond a
// limit. It belongs to one goroutine.
type Run struct{ work int }

// Limitf returns a failure whose cause is [ErrLimit].
func Limitf(format string, args ...any) Failure {
	return Failf("%s: %w", fmt.Sprintf(format, args...), ErrLimit)
}

// Spend counts n steps of work.
func (r *Run) Spend(n int) {
	r.work += n
	if r.work > maxWork || r.work < 0 {
		panic(Limitf("the template does too much work (more than %d steps); make its loops smaller", maxWork))
	}
}

// SpendBytes counts the work on n bytes, and refuses texts longer than the output may be.
func (r *Run) SpendBytes(n int) {
	if n > maxOutput || n < 0 {
		panic(tooLong())
	}
	r.Spend(n/bytesPerStep + 1)
}

// SpendItems counts the work of making a list of n items, and refuses lists that are too long.
func (r *Run) SpendItems(n int) {
	if n > maxItems || n < 0 {
		panic(Limitf("a list has more than %d items", maxItems))
	}
	r.Spend(n)
}

func checkDepth(depth int) {
	if depth > maxDepth {
		panic(Limitf("a value nests deeper than %d levels", maxDepth))
	}
}

// Append returns out with s behind it, unless that is more than the output may be.
func (r *Run) Append(out []byte, s string) []byte {
	if len(out)+len(s) > maxOutput {
		panic(tooLong())
	}
	return append(out, s...)
}

func tooLong() Failure {
	return Limitf("the text is longer than %d bytes; use the filter truncate", maxOutput)
}
