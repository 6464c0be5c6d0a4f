package loop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var urls []string
	open := func(_ context.Context, conversations int) (Loop, error) {
		assert.Equal(t, 2, conversations)
		return Loop{
			Talk: func(_ context.Context, _ int, url string) error {
				mu.Lock()
				defer mu.Unlock()
				urls = append(urls, url)
				return nil
			},
			Drain: func() (int64, error) { return 7, errors.New("the rest waits") },
		}, nil
	}
	var out bytes.Buffer
	require.NoError(t, Run(context.Background(), []string{"5", "2", "http://x/r1"}, &out, open))
	assert.ElementsMatch(t, []string{"http://x/r1-0/5", "http://x/r1-1/5"}, urls)
	var s Sample
	require.NoError(t, json.Unmarshal(out.Bytes(), &s))
	assert.Equal(t, int64(7), s.Delivered)
	assert.Equal(t, "the rest waits", s.Undelivered)
	assert.Positive(t, s.PeakMiB)
}

func TestRunErrors(t *testing.T) {
	t.Parallel()
	fails := errors.New("the model is away")
	open := func(context.Context, int) (Loop, error) {
		return Loop{Talk: func(context.Context, int, string) error { return fails }}, nil
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "usage: TURNS CONVERSATIONS URL"},
		{[]string{"many", "1", "http://x"}, `read the number of turns: strconv.Atoi: parsing "many": invalid syntax`},
		{[]string{"1", "few", "http://x"}, `read the number of conversations: strconv.Atoi: parsing "few": invalid syntax`},
		{[]string{"1", "1", "http://x"}, "the model is away"},
	} {
		require.EqualError(t, Run(context.Background(), tc.args, new(bytes.Buffer), open), tc.want)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	assert.Len(t, Lookup(`{"n":1}`), ResultSize)
	assert.Contains(t, Lookup(`{"n":1}`), `result of {"n":1}: xxx`)
}
