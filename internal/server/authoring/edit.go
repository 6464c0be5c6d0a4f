package authoring

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"

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
	New        bool   // there is no such file yet
	Version    string // of the file; "": it was not there
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
	view := a.blank(v, f.Name)
	view.Version = f.Version
	if view.Closed = closed(string(f.Text)); view.Closed == "" {
		view.Text = asSent(string(f.Text))
	}
	if err := a.diagnose(v, f, string(f.Text), view, nil); err != nil {
		return refusal(err)
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

// blank is the page of a file without a text.
func (a *author) blank(v *page.Visit, name string) *fileView {
	return &fileView{
		Name: name, Path: pathOf(name), Edit: a.Edit, Token: v.Token(about(name)),
		editor: editor{Language: languageOf(name), Check: pathCheck, Schema: pathSchema},
	}
}

// diagnose puts into the page of a file what is wrong with a text, after what was found in it, its graph, and the form of a run.
func (a *author) diagnose(v *page.Visit, f *grants.File, text string, view *fileView, before []finding) error {
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-v.Context().Done():
		return v.Context().Err()
	}
	c, found, err := a.Grants.Diagnose(v.Context(), f, []byte(text))
	if err != nil {
		return err
	}
	errs, warnings := found.Count()
	errs += len(before)
	view.State, view.Bad, view.Found, view.Graph = stateOf(errs, warnings), errs > 0, slices.Concat(before, findings(f.Name, found)), draw(c)
	if f.Version != "" && len(before) == 0 {
		view.Run = a.runOf(v.Context(), c, v.Form())
	}
	return nil
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

// The words for texts that are changed with another editor.
const (
	elsewhere     = " Change it with another editor."
	differentEnds = "The lines of the text end in different ways."
)

func tooLong(text string) string {
	return fmt.Sprintf("The text has %s, and this page takes %d KiB at most.", quantity.Of(len(text), "byte"), mostText>>10)
}

// closed says why a browser would not send the text of a file back as it is; "" when it would.
func closed(text string) string {
	why := unsendable(text)
	if why == "" {
		why = hiddenNote(text)
	}
	if why == "" && asSent(text) != text && strings.Count(text, "\r\n") != strings.Count(text, "\n") {
		why = differentEnds
	}
	if why != "" {
		why += elsewhere
	}
	return why
}

// act does what a button of a file says.
func (a *author) act(v *page.Visit) error {
	s, err := a.sentOf(v, v.Of("name"))
	if err == nil && s.file == nil && !s.typed { // nothing is lost
		err = refusal(s.why)
	}
	if err != nil {
		v.Audit((&sent{do: v.Form().Get("do")}).audited(), "", v.Of("name"), err)
		return err
	}
	view := a.draft(v, s)
	if v.Holds(about(s.name)) != nil {
		return a.refuse(v, s, view, http.StatusForbidden, errOtherForm)
	}
	if status, why := s.refused(); why != nil {
		return a.refuse(v, s, view, status, why)
	}
	switch s.do {
	case "check":
		return a.checked(v, s, view)
	case "save":
		return a.save(v, s, view)
	case "run":
		return a.run(v, s.file, view)
	}
	return a.refuse(v, s, view, http.StatusUnprocessableEntity, errNothing)
}

const (
	errOtherForm = words("This page is of a login that has ended, or was not sent by this form. Nothing was changed. Your text is below: look at it, and press the button again.")
	errNothing   = words("The form says nothing that can be done here: check, save or run.")
)

// refused says why a text is not even looked at.
func (s *sent) refused() (status int, why error) {
	if s.why != nil {
		return cmp.Or(s.status, statusOf(server.ProblemOf(s.why))), s.why
	}
	if why := unsendable(s.text); s.typed && why != "" {
		return http.StatusUnprocessableEntity, words(why + " Nothing was changed.")
	}
	return 0, nil
}

// checked shows what is wrong with a text, and what has happened to its file meanwhile.
func (a *author) checked(v *page.Visit, s *sent, view *fileView) error {
	if view.Problem = s.since(); view.Problem != "" && view.New && view.Edit {
		view.Version = ""
		view.Problem += " Save makes it again."
	}
	view.compare(s)
	return a.page(v, http.StatusOK, view)
}

// save puts the text of the form into the file.
func (a *author) save(v *page.Visit, s *sent, view *fileView) error {
	err := a.mayFile(s, view)
	if err != nil {
		return a.refuse(v, s, view, statusOf(server.ProblemOf(err)), err)
	}
	if s.text == string(s.file.Text) && s.file.Version != "" {
		return a.saved(v, s, view) // also when a browser sends the form again
	}
	if s.since() == "" {
		err = a.Grants.Save(s.file, []byte(s.text))
	}
	if s.since() != "" || errors.As(err, new(*grants.StaleError)) || errors.As(err, new(*grants.ExistsError)) {
		return a.stale(v, s, view)
	}
	if err != nil {
		return a.refuse(v, s, view, statusOf(server.ProblemOf(err)), err)
	}
	v.Audit(audit.CascadeSave, "", s.name, nil)
	return a.saved(v, s, view)
}

// saved shows the file as it is now, with the inputs of a run that were typed.
func (a *author) saved(v *page.Visit, s *sent, view *fileView) error {
	now, err := a.open(s.name)
	if err != nil {
		return err
	}
	if fresh := a.runOf(v.Context(), view.cascade(), nil); fresh == nil || fresh.More == view.Run.More && reflect.DeepEqual(fresh.Fields, view.Run.Fields) {
		return v.Redirect(view.Path + "?saved=" + now.Version)
	}
	view.Version, view.New, view.HasChange, view.Good = now.Version, false, false, "Saved."
	return a.page(v, http.StatusOK, view)
}

// cascade is what the form of a run is for; nil: there is no form.
func (view *fileView) cascade() *cascade.Cascade {
	if view.Run == nil {
		return nil
	}
	return view.Run.of
}

// mostChanges is how many lines are shown in which a text and a file differ.
const mostChanges = 200

// compare has the page show in which lines a text and its file differ, when the file is another one than was opened.
func (view *fileView) compare(s *sent) {
	if s.since() == "" || view.New {
		return
	}
	for _, l := range linediff.Of(asSent(string(s.file.Text)), view.Text) {
		if l.Op != linediff.Both && len(view.Changes) < mostChanges {
			view.Changes = append(view.Changes, change{l.Op == linediff.Old, l.Text})
		}
	}
}

// stale shows a text that was not saved, with what it would change in the file as that is by now.
func (a *author) stale(v *page.Visit, s *sent, view *fileView) error {
	if s.since() == "" { // it has changed in this moment
		now, err := a.sentOf(v, s.name)
		if err != nil {
			return err
		}
		if s = now; s.file == nil {
			status, why := s.refused()
			return a.refuse(v, s, view, status, why)
		}
		view.New = s.file.Version == ""
	}
	rest := " Nothing was saved: your text is below, with what it would change in the file as it is now."
	if view.New {
		view.Version, rest = "", " Nothing was saved: your text is below, and Save makes the file again."
	}
	if view.compare(s); len(view.Changes) > 0 {
		view.Version = s.file.Version
		rest += " Save then puts your text in its place."
	}
	return a.refuse(v, s, view, http.StatusConflict, words(s.since()+rest))
}

// mayFile says why a text is not saved, without looking at the file.
func (a *author) mayFile(s *sent, view *fileView) error {
	hidden := hiddenNote(s.text)
	switch {
	case !a.Edit:
		return server.NewProblem(server.NotGranted, "windlass ui --edit", "this server changes no files")
	case closed(string(s.file.Text)) != "":
		return server.NewProblem(server.NotGranted, "another editor", "the text of the file cannot be changed on this page")
	case hidden != "":
		return server.NewProblem(server.BadRequest, "remove them where the list below has them, or write them as escapes, and save again", "%s Nothing was changed", hidden)
	case view.Bad:
		return server.NewProblem(server.BadRequest, "correct what is listed, and save again", "the text has errors, and is not saved with them")
	}
	return nil
}

// statusOf is the status of HTTP of a problem.
func statusOf(p *server.Problem) int {
	switch p.Kind { //nolint:exhaustive // the others are of what was sent
	case server.Internal:
		return http.StatusInternalServerError
	case server.NotGranted:
		return http.StatusForbidden
	case server.TooManyRuns:
		return http.StatusTooManyRequests
	case server.ShuttingDown, failure.StorageFailed:
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

// report is what the script of the editor is told of a text.
type report struct {
	State string    `json:"state"`
	Bad   bool      `json:"bad"`
	Found []finding `json:"found"`
	Graph *drawing  `json:"graph"` // null: there is none
	Note  string    `json:"note"`  // why it was not checked, or what has happened to the file
}

// check checks the text of a form for the script of the editor, and shows nothing.
func (a *author) check(v *page.Visit) error {
	s, err := a.sentOf(v, v.Form().Get("name"))
	if err != nil {
		return err
	}
	if err := v.Holds(about(s.name)); err != nil {
		return err
	}
	view := a.draft(v, s)
	out := report{view.State, view.Bad, view.Found, view.Graph, s.since()}
	if _, why := s.refused(); why != nil {
		out.Note = reason(why)
	}
	if out.Found == nil {
		out.Found = []finding{}
	}
	return v.JSON(out)
}
