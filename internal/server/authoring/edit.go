package authoring

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/linediff"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server"
	"github.com/windlass-run/windlass/internal/server/grants"
	"github.com/windlass-run/windlass/internal/server/page"
	"github.com/windlass-run/windlass/internal/server/web"
)

// mostText is how many bytes of text the editor takes: a form has at most 2 MiB, and each byte may become three there.
const mostText = 512 << 10

// fileView is a cascade file.
type fileView struct {
	Name, Path string
	Edit       bool
	Version    string
	Token      string
	editor

	State   string
	Bad     bool
	Found   []finding
	Graph   *drawing
	Run     *runView // nil: it cannot be run
	Good    string   // what was done
	Problem string   // what was not done, and why
	Changes []change // in which lines the text is another one than the file has by now
}

// change is a line that only the file has, or only the text.
type change struct {
	Removed bool // only the file has it
	Text    string
}

// editor is the text of a file, and what its script is told.
type editor struct {
	Text      string
	Closed    string // why the text cannot be changed here; "": it can
	HasChange bool   // the text is not that of the file
	Language  string // of the text: json or yaml
	Check     string // the address that checks texts
	Schema    string // the address of the JSON Schema of cascades
}

// finding is a diagnostic as it is shown.
type finding struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	File     string `json:"file,omitempty"` // "": the one that is shown
	Line     int    `json:"line"`
	Col      int    `json:"col"`
	EndCol   int    `json:"end_col"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
}

// Place is where it is.
func (f finding) Place() string {
	place := fmt.Sprintf("%d:%d", f.Line, f.Col)
	if f.File != "" {
		return f.File + ":" + place
	}
	return place
}

// findings returns diagnostics as they are shown with a file.
func findings(file string, found cascade.Diagnostics) []finding {
	out := make([]finding, 0, len(found))
	for _, d := range found {
		f := finding{Severity: string(d.Severity), Code: string(d.Code), Line: d.Line, Col: d.Col, EndCol: d.EndCol}
		f.Message, _ = excerpt.Unhidden(d.Message)
		f.Hint, _ = excerpt.Unhidden(d.Hint)
		if d.File != file {
			f.File, _ = excerpt.Unhidden(d.File)
		}
		out = append(out, f)
	}
	return out
}

// about is what the forms of a file are about.
func about(file string) string { return "cascade\n" + file }

// show shows a file as it is.
func (a *author) show(v *page.Visit) error {
	f, err := a.open(v.Of("name"))
	if err != nil {
		return err
	}
	view, err := a.view(v, f, string(f.Text))
	if err != nil {
		return err
	}
	if saved := v.Query().Get("saved"); saved != "" && saved == f.Version {
		view.Good = "Saved."
	}
	return a.page(v, http.StatusOK, view)
}

func (a *author) page(v *page.Visit, status int, view *fileView) error {
	if view.Closed == "" {
		v.Scripts = append(v.Scripts, web.EditorScript)
	}
	return v.ShowAs(status, "cascade", path.Base(view.Name), view)
}

// view is a file with a text, which may be another one than it has.
func (a *author) view(v *page.Visit, f *grants.File, text string) (*fileView, error) {
	view := &fileView{
		Name: f.Name, Path: pathOf(f.Name), Edit: a.Edit, Version: f.Version, Token: v.Token(about(f.Name)),
		editor: editor{HasChange: text != string(f.Text), Language: languageOf(f.Name), Check: pathCheck, Schema: pathSchema},
	}
	if view.Closed = closed(text); view.Closed == "" {
		view.Text = asSent(text)
	}
	c, found, err := a.Grants.Diagnose(v.Context(), f, []byte(text))
	if err != nil {
		return nil, refusal(err)
	}
	errs, warnings := found.Count()
	view.State, view.Bad, view.Found, view.Graph = stateOf(errs, warnings), errs > 0, findings(f.Name, found), draw(c)
	view.Run = a.runOf(v.Context(), c, v.Form())
	return view, nil
}

// languageOf returns the language in which a file is read.
func languageOf(file string) string {
	if path.Ext(file) == ".json" {
		return "json"
	}
	return "yaml"
}

// asSent returns a text as a browser sends it, but for the ends of lines.
func asSent(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// closed says why a browser would not send a text back as it is; "" when it would.
func closed(text string) string {
	const elsewhere = " Change it with another editor."
	sent := asSent(text)
	r, hidden := excerpt.FirstHidden(text)
	switch {
	case len(text) > mostText:
		return fmt.Sprintf("The text has %s, and this page takes %d KiB at most.", quantity.Of(len(text), "byte"), mostText>>10) + elsewhere
	case !utf8.ValidString(text):
		return "The text is not UTF-8." + elsewhere
	case hidden:
		return fmt.Sprintf("The text has characters that are not seen, such as %U.", r) + elsewhere
	case strings.Contains(sent, "\r"), sent != text && strings.Count(text, "\r\n") != strings.Count(text, "\n"):
		return "The lines of the text end in different ways." + elsewhere
	}
	return ""
}

// sent returns the text of a form for a file, with the ends of lines that the file has.
func sent(v *page.Visit, f *grants.File) (string, error) {
	text := asSent(v.Form().Get("text"))
	if why := closed(text); why != "" {
		return "", page.Refusal(http.StatusUnprocessableEntity, "%s Nothing was changed.", why)
	}
	if strings.Contains(string(f.Text), "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text, nil
}

// act does what a button of a file says.
func (a *author) act(v *page.Visit) error {
	f, err := a.open(v.Of("name"))
	if err != nil {
		return err
	}
	if err := v.Holds(about(f.Name)); err != nil {
		return err
	}
	text := string(f.Text)
	if closed(text) == "" {
		if text, err = sent(v, f); err != nil {
			return err
		}
	}
	view, err := a.view(v, f, text)
	if err != nil {
		return err
	}
	view.Version = v.Form().Get("version")
	switch v.Form().Get("do") {
	case "check":
		return a.page(v, http.StatusOK, view)
	case "save":
		return a.save(v, f, text, view)
	case "run":
		return a.run(v, f, view)
	}
	return page.Refusal(http.StatusUnprocessableEntity, "The form says nothing that can be done here: check, save or run.")
}

// save puts the text of the form into the file.
func (a *author) save(v *page.Visit, f *grants.File, text string, view *fileView) error {
	f.Version = view.Version
	err := a.mayFile(view)
	if err == nil {
		err = a.Grants.Save(f, []byte(text))
	}
	v.Audit(audit.CascadeSave, "", f.Name, err)
	var stale *grants.StaleError
	switch {
	case errors.As(err, &stale):
		return a.stale(v, text, view)
	case err != nil:
		p := server.ProblemOf(err)
		if p.Kind == server.Internal {
			return err
		}
		view.Problem = worded(p)
		return a.page(v, statusOf(p), view)
	}
	now, err := a.open(f.Name)
	if err != nil {
		return err
	}
	return v.Redirect(view.Path + "?saved=" + now.Version)
}

// mostChanges is how many lines are shown in which a text and a file differ.
const mostChanges = 200

// stale shows a text that was not saved, with what it would change in the file as that is by now.
func (a *author) stale(v *page.Visit, text string, view *fileView) error {
	view.Problem = "The file has changed since it was opened here. Nothing was saved: your text is below, with what it would change in the file as it is now."
	now, err := a.open(view.Name)
	if err != nil {
		return err
	}
	for _, l := range linediff.Of(asSent(string(now.Text)), asSent(text)) {
		if l.Op != linediff.Both && len(view.Changes) < mostChanges {
			view.Changes = append(view.Changes, change{l.Op == linediff.Old, l.Text})
		}
	}
	return a.page(v, http.StatusConflict, view)
}

// mayFile says why a text is not saved, without looking at the file.
func (a *author) mayFile(view *fileView) error {
	switch {
	case !a.Edit:
		return server.NewProblem(server.NotGranted, "windlass ui --edit", "this server changes no files")
	case view.Closed != "":
		return server.NewProblem(server.NotGranted, "another editor", "the text of the file cannot be changed on this page")
	case view.Bad:
		return server.NewProblem(server.BadRequest, "correct what is listed, and save again", "the text has errors, and is not saved with them")
	}
	return nil
}

// statusOf is the status of HTTP of a problem.
func statusOf(p *server.Problem) int {
	switch p.Kind { //nolint:exhaustive // the others are of what was sent
	case server.NotGranted:
		return http.StatusForbidden
	case server.TooManyRuns:
		return http.StatusTooManyRequests
	case server.ShuttingDown, failure.StorageFailed:
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

// checked is what the script of the editor is told of a text.
type checked struct {
	State string    `json:"state"`
	Found []finding `json:"found"`
	Graph *drawing  `json:"graph"` // null: there is none
}

// check checks the text of a form for the script of the editor, and shows nothing.
func (a *author) check(v *page.Visit) error {
	f, err := a.open(v.Form().Get("name"))
	if err != nil {
		return err
	}
	if err := v.Holds(about(f.Name)); err != nil {
		return err
	}
	text, err := sent(v, f)
	if err != nil {
		return err
	}
	c, found, err := a.Grants.Diagnose(v.Context(), f, []byte(text))
	if err != nil {
		return refusal(err)
	}
	errs, warnings := found.Count()
	return v.JSON(checked{stateOf(errs, warnings), findings(f.Name, found), draw(c)})
}
