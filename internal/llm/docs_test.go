package llm_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
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
		case "script":
			s, err := script.Parse("models.md", []byte(b[2]))
			require.NoError(t, err)
			checkExample(t, script.NewModel(s))
		default:
			t.Fatalf("a JSON block of unknown kind %q", b[1])
		}
	}
	require.Equal(t, map[string]int{"windlass": 1, "script": 1}, seen)
}

// checkExample plays the example script as the page says it goes.
func checkExample(t *testing.T, m engine.Model) {
	t.Helper()
	ask := func(phase string, attempt, turn int, msgs ...*echo.Message) string {
		resp, err := m.Complete(t.Context(), &engine.ModelRequest{
			Site: engine.Site{Phase: phase, Attempt: attempt, Turn: turn}, Model: "m", Messages: msgs,
			Tools: []engine.ToolSpec{{Name: "list_files"}},
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
