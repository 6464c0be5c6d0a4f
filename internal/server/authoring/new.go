package authoring

import (
	"encoding/json"
	"errors"
	"net/http"
	"path"
	"strings"

	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/server/page"
)

// begin opens the editor with a text for a cascade file that is not there yet. Only a save creates it.
func (a *author) begin(v *page.Visit) error {
	name := strings.TrimSpace(v.Query().Get("name"))
	if !a.Edit {
		return page.Refusal(http.StatusForbidden, "This server changes no files. Try: windlass ui --edit")
	}
	f, err := a.Grants.New(name)
	if err != nil {
		status, why := http.StatusConflict, err.Error()+"."
		if !errors.As(err, new(*grants.ExistsError)) {
			p := server.ProblemOf(err)
			status, why = statusOf(p), worded(p)
		}
		return a.listed(v, status, listView{NewName: name, Problem: why})
	}
	text := smallest(name)
	view := a.blank(v, name)
	view.Text, view.New = text, true
	if err := a.diagnose(v, f, text, view, nil); err != nil {
		return refusal(err)
	}
	return a.page(v, http.StatusOK, view)
}

// smallest is the smallest text of a cascade for a file, with its name as the id.
func smallest(name string) string {
	id, err := json.Marshal(strings.TrimSuffix(path.Base(name), path.Ext(name)))
	if err != nil {
		id = []byte(`"new"`)
	}
	if languageOf(name) == "yaml" {
		return "cascade_id: " + string(id) + "\nphases:\n  - name: answer\n    instructions: Say what the model is to do.\n"
	}
	return "{\n  \"cascade_id\": " + string(id) + ",\n  \"phases\": [\n    {\n      \"name\": \"answer\",\n      \"instructions\": \"Say what the model is to do.\"\n    }\n  ]\n}\n"
}
