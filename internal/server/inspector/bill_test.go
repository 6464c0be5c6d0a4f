package inspector_test

import (
	"html"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

// TestPastes: the text of a policy is one that a cascade, and a phase, can have.
func TestPastes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	base := "/sessions/" + inspectortest.Copy(t, home, frozen+"/rules2/fix_until_green.jsonl")
	b := inspectortest.New(t, home, nil)
	q := url.Values{"policy": {"full", "every_turn", "step:5", "default", "hindsight", `{"window": 3, "mask_observations_after": 1}`}}
	pastes := regexp.MustCompile(`<pre class="code" data-copied tabindex="0">(&#34;.*?)</pre>`).FindAllStringSubmatch(b.Open(base+"/bill?"+q.Encode()), -1)
	require.Len(t, pastes, 10, "five policies, twice: nobody can have hindsight")
	for i, m := range pastes {
		text := `{"cascade_id": "pasted", "phases": [{"name": "work", "instructions": "Work.", ` + html.UnescapeString(m[1]) + `}]}`
		if i%2 == 0 {
			text = `{"cascade_id": "pasted", ` + html.UnescapeString(m[1]) + `, "phases": [{"name": "work", "instructions": "Work."}]}`
		}
		path := filepath.Join(t.TempDir(), "pasted.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, _, err := cascade.Load(path, cascade.Known{}) // warnings are about the phase
		require.NoError(t, err, text)
	}
	for _, bad := range []string{`{"window":`, `{"windov": 2}`, "tight"} {
		w := b.Ask(http.MethodGet, base+"/bill?"+url.Values{"policy": {bad}}.Encode(), nil)
		require.Equal(t, http.StatusUnprocessableEntity, w.Code)
		require.NotContains(t, w.Body.String(), "For the cascade", bad)
	}
}
