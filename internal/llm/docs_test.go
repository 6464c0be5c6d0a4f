package llm_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/script"
)

var codeBlock = regexp.MustCompile("(?s)```json (\\w+)\n(.*?)```")

// Every JSON example of the page is read by the code that reads such files.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/models.md")
	require.NoError(t, err)
	blocks := codeBlock.FindAllStringSubmatch(string(page), -1)
	require.Equal(t, strings.Count(string(page), "```json"), len(blocks), "every JSON block says what it is")
	seen := map[string]int{}
	for _, b := range blocks {
		seen[b[1]]++
		switch b[1] {
		case "windlass":
			c, err := config.Parse("models.md", []byte(b[2]))
			require.NoError(t, err)
			require.Contains(t, c.Models, "fast")
			require.Equal(t, 512, c.Models[c.EmbeddingModel].Dimensions)
		case "cascade": // cmd/windlass checks it
		case "script":
			s, err := script.Parse("models.md", []byte(b[2]))
			require.NoError(t, err)
			checkExample(t, script.NewModel(s))
		default:
			t.Fatalf("a JSON block of unknown kind %q", b[1])
		}
	}
	require.Equal(t, map[string]int{"windlass": 1, "cascade": 1, "script": 1}, seen)
}

// checkExample plays the example script as the page says it goes.
func checkExample(t *testing.T, m effect.Model) {
	t.Helper()
	ask := func(phase string, attempt, turn int, msgs ...*echo.Message) string {
		resp, err := m.Complete(t.Context(), &effect.ModelRequest{
			Site: effect.Site{Phase: phase, Attempt: attempt, Turn: turn}, Model: "m", Messages: msgs,
			Tools: []effect.ToolSpec{{Name: "list_files"}},
		})
		require.NoError(t, err)
		return resp.Message.Text()
	}
	user := echo.NewText(echo.RoleUser, echo.KindTask, "go")
	call := echo.ToolCall{ID: "c", Name: "list_files", Arguments: "{}"}
	asked := echo.Seal(echo.Draft{Role: echo.RoleAssistant, ToolCalls: []echo.ToolCall{call}})
	require.Equal(t, "I look around.", ask("survey", 1, 1, user))
	require.Equal(t, "I see 2 files, the first is a.go.", ask("survey", 1, 2, user, asked, echo.NewToolResult(call, echo.Text("a.go\nb.go\n"), false)))
	require.Equal(t, "Attempt 7, better.", ask("fix", 7, 3, user))
	require.Equal(t, "Phase other has nothing to say.", ask("other", 1, 1, user))
}

// The defaults that the page names are those of the code.
func TestDocumentedDefaults(t *testing.T) {
	t.Parallel()
	require.Equal(t, []float64{600, 300, 4, 0.5}, []float64{
		llm.DefaultTimeout.Seconds(), llm.DefaultIdleTimeout.Seconds(), llm.DefaultMaxRetries, llm.DefaultRetryWait.Seconds(),
	})
	require.Equal(t, []float64{60, 30, 64}, []float64{llm.DefaultEmbedTimeout.Seconds(), llm.DefaultEmbedIdleTimeout.Seconds(), llm.DefaultBatchSize})
}

var (
	kindRow = regexp.MustCompile("(?m)^\\| ([^|]+) \\| `(\\w+)` \\| ([^|]+) \\|$")
	status  = regexp.MustCompile(`\b([45])(\d\d|xx)\b(?:,| \|| or|$)`)
)

// TestDocumentedKinds holds the table of what goes wrong against what the code makes of every
// status, and looks for kinds that it does not have.
func TestDocumentedKinds(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/models.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "| what happens | kind | tried again |\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	tried := map[string]int{"no": 0, "up to `max_retries`": 7, "at most twice": 2}
	type outcome struct {
		kind  echo.ModelErrorKind
		tries int
	}
	documented, kinds := map[string]outcome{}, map[echo.ModelErrorKind]bool{}
	for _, row := range kindRow.FindAllStringSubmatch(table, -1) {
		kinds[echo.ModelErrorKind(row[2])] = true
		for _, m := range status.FindAllStringSubmatch(row[1], -1) {
			documented[m[1]+m[2]] = outcome{echo.ModelErrorKind(row[2]), tried[row[3]]}
		}
	}
	for code := 400; code < 600; code++ {
		want, ok := documented[strconv.Itoa(code)]
		if !ok {
			want, ok = documented[strconv.Itoa(code)[:1]+"xx"]
		}
		require.True(t, ok, code)
		kind, tries := llm.Tried(code, 7)
		require.Equal(t, want, outcome{kind, tries}, code)
	}
	source, err := os.ReadFile("../../echo/data_model.go")
	require.NoError(t, err)
	all := regexp.MustCompile(`ModelErr\w+ +ModelErrorKind = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	require.Greater(t, len(all), 10)
	for _, m := range all {
		require.True(t, kinds[echo.ModelErrorKind(m[1])] || m[1] == string(echo.ModelErrScript), "docs/models.md says nothing about %s", m[1])
	}
}
