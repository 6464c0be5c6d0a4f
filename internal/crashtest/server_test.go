package crashtest_test

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/crashtest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// TestMain is also a process that waits to be killed.
func TestMain(m *testing.M) {
	if os.Getenv("CRASHTEST_VICTIM") != "" {
		select {}
	}
	os.Exit(m.Run())
}

func victim(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "CRASHTEST_VICTIM=1")
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
	return cmd
}

func start(t *testing.T) *crashtest.Server {
	t.Helper()
	s := crashtest.Start(crashtest.Config{
		Config: llmtest.Config{Answer: func(llmtest.Request) *llmtest.Answer { return &llmtest.Answer{Text: "yes"} }},
		Name: func(r *llmtest.Request) (id, place string) {
			return r.Messages[0].Text(), "the place of " + r.Messages[0].Text()
		},
	})
	t.Cleanup(s.Close)
	return s
}

func ask(t *testing.T, s *crashtest.Server, text string) {
	t.Helper()
	body := `{"model": "m", "messages": [{"role": "user", "content": "` + text + `"}]}`
	r, err := http.Post(s.URL+"/chat/completions", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, http.StatusOK, r.StatusCode)
}

// What is asked for is counted, and what was recorded before and is asked for again is told.
func TestAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	ask(t, s, "a")
	ask(t, s, "a")
	ask(t, s, "b")
	require.Empty(t, s.Again())
	s.Settle("a")
	ask(t, s, "b")
	ask(t, s, "a")
	require.Equal(t, []string{"the place of a"}, s.Again())
	require.Equal(t, map[string]int{"a": 3, "b": 2}, s.Asked())
}

// A trap kills its process at its place, whatever springs it.
func TestTraps(t *testing.T) {
	t.Parallel()
	for name, trap := range map[string]*crashtest.Trap{
		"time":    {Kind: crashtest.AtTime, Wait: 1},
		"mark":    {Kind: crashtest.AtMark, N: 3},
		"request": {Kind: crashtest.AtRequest, N: 2},
		"answer":  {Kind: crashtest.AtAnswer, N: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := start(t), victim(t)
			s.Set(trap)
			trap.Begin(p.Process)
			marks := 0
			stop := trap.Watch(func() int { marks++; return marks })
			ask(t, s, "a")
			ask(t, s, "b")
			require.Error(t, p.Wait())
			require.Equal(t, -1, p.ProcessState.ExitCode())
			stop()
		})
	}
	var none *crashtest.Trap
	none.Begin(nil)
	none.Watch(nil)()
}
