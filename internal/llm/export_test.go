package llm

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/windlass-run/windlass/echo"
)

func init() { askLimit = time.Minute } // a machine that is busy answers all the same

// SleepLess makes a model's client wait no time between attempts and returns the waits it was asked
// for.
func SleepLess(t *testing.T, r *Router, model string) *[]time.Duration {
	t.Helper()
	c, err := r.client(model)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	waits := &[]time.Duration{}
	c.sleep = func(ctx context.Context, d time.Duration) error {
		mu.Lock()
		defer mu.Unlock()
		*waits = append(*waits, d)
		return ctx.Err()
	}
	return waits
}

// IdleTimeout returns for how long a model's endpoint may be silent.
func IdleTimeout(t *testing.T, r *Router, model string) time.Duration {
	t.Helper()
	c, err := r.client(model)
	if err != nil {
		t.Fatal(err)
	}
	return c.idle
}

// ListHeader returns what a request for the models of an endpoint says.
func ListHeader(r *Router, of string) (http.Header, error) {
	e, _, err := r.listed(of)
	return e.header(), err
}

// Exact reports whether the model family's own tokenizer is used.
func (c *Counter) Exact() bool { return c.codec != nil }

// ParseCards reports why a table cannot be read.
func ParseCards(data string) error {
	_, err := parseCards([]byte(data))
	return err
}

// ReadAnswer assembles a response body and returns the answer, or why it is none.
func ReadAnswer(res *http.Response) (*echo.Message, error) {
	var a assembly
	if err := a.read(res); err != nil {
		return nil, err
	}
	return a.message(nil), nil
}

// Tried says what an error status comes to, and how often it is tried again when max_retries is n.
func Tried(status, n int) (echo.ModelErrorKind, int) {
	f := statusFailure(status, nil, nil, time.Time{})
	return f.kind, f.limit(n)
}
