package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/linediff"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/waits"
)

// waitView is the page of one wait.
type waitView struct {
	frame
	listed
	Version, Token string
	Controls       []control // of the form, when it has fields or is one
	Arguments      string    // of an approval, as a person reads them
	Data           string
	Images         []picture
	Given          url.Values // what was filled in before
	Problem        string     // why an answer was not taken
	Done           *done      // how it was answered
	Edit           *edit
	Earlier        []Decided
}

// control is a part of a form.
type control struct {
	Name, Label string
	Kind        string
	Options     []echo.Option
	Most        int
	Required    bool
	Given       []string
}

// Has reports whether a value was filled in before.
func (c control) Has(value string) bool { return slices.Contains(c.Given, value) }

// Text returns the text that was filled in before.
func (c control) Text() string { return strings.Join(c.Given, "") }

// picture is an image that a person sees with a question.
type picture struct {
	Name, About, Address string
	Width, Height        int
}

// done is how a wait was answered.
type done struct {
	Mine bool // by the request before this one
	*echo.Answer
	Text string
}

// edit is an edited call that waits to be sent.
type edit struct {
	Lines     []linediff.Line
	Arguments string
	Token     string // which only what was shown has
}

// Summary says how much changes, which a screen reader says before the lines.
func (e *edit) Summary() string {
	count := map[linediff.Op]int{}
	for _, l := range e.Lines {
		count[l.Op]++
	}
	are := func(n int) string {
		if n == 1 {
			return " is "
		}
		return " are "
	}
	removed, added := count[linediff.Old], count[linediff.New]
	return quantity.Of(removed, "line") + are(removed) + "removed, " + strconv.Itoa(added) + are(added) + "added."
}

// versionOf returns a text that is another one when the page of a wait shows something else.
func versionOf(w *waits.Wait) string {
	if w.Shown != "" {
		return string(w.Shown)
	}
	form, err := json.Marshal(w.Form)
	if err != nil {
		form = nil // all of it came from JSON
	}
	return short(string(form))
}

// about is what a form of a wait is about: its CSRF token is good for nothing else.
func about(w *waits.Wait) string { return "wait\n" + w.ID + "\n" + versionOf(w) }

func (r *request) wait() error {
	if !r.needLogin() {
		return nil
	}
	w, err := r.find()
	if err != nil {
		return r.ended(http.StatusOK, err)
	}
	return r.showWait(http.StatusOK, w, func(v *waitView) {
		if w.Answer != nil {
			v.Done = &done{Mine: r.r.URL.Query().Has("answered"), Answer: w.Answer, Text: answerText(w.Answer)}
		}
	})
}

// find returns the wait that the address names.
func (r *request) find() (*waits.Wait, error) {
	id := r.r.PathValue("id")
	if !echo.IsWaitID(id) {
		return nil, failure.New(failure.UnknownWait, &waits.UnknownError{Given: id}, "")
	}
	return r.Desk.Find(r.ctx(), id)
}

// ended shows how a wait has ended that is not open any more.
func (r *request) ended(status int, err error) error {
	if !failure.Is(err, failure.AlreadyAnswered) {
		return err
	}
	v := messageView{frame: r.frame("Already answered"), Text: sentence(err)}
	if r.r.URL.Query().Has("answered") {
		v.Title = "Answered"
	}
	r.show(r.views, status, "message", v)
	return nil
}

// showWait shows the page of a wait; with adds what happened to it.
func (r *request) showWait(status int, w *waits.Wait, with func(*waitView)) error {
	earlier, err := r.Desk.Earlier(r.ctx(), w)
	if err != nil {
		return err
	}
	v := &waitView{
		frame: r.frame(kindName(w.Kind) + ": " + oneline.Cut(oneline.Of(clean(w.Asked)), 80)), listed: listedAt(w, r.Now()), Version: versionOf(w), Token: r.login.token(about(w)), Given: r.r.PostForm, Earlier: earlier,
	}
	if w.Call != nil {
		v.Arguments = waiting.Visible(w.Call.Arguments)
	}
	if w.Form != nil {
		v.Images = pictures(w)
		if w.Form.Data != nil {
			v.Data = waiting.Visible(jsonOf(w.Form.Data))
		}
	}
	if with != nil {
		with(v)
	}
	v.Controls = controls(w.Form, v.Given)
	r.show(r.views, status, "wait", v)
	return nil
}

func pictures(w *waits.Wait) (out []picture) {
	for i, x := range w.Images() {
		out = append(out, picture{
			Name: oneline.Cut(oneline.Of(clean(x.Name)), 200), About: waits.AboutImage(&x), Address: fmt.Sprintf("%s/%s/images/%d", pathWaits, w.ID, i+1),
			Width: x.Width, Height: x.Height,
		})
	}
	return out
}

// waitImage sends an image that a question shows, as it is recorded.
func waitImage(r *request) error {
	if r.login == nil {
		return &statusError{http.StatusUnauthorized, "Closed", "Open the page again.", "refused"}
	}
	w, err := r.find()
	if err != nil {
		return r.ended(http.StatusGone, err)
	}
	n, err := strconv.Atoi(r.r.PathValue("n"))
	if err != nil {
		return nothing(r)
	}
	x, err := r.Desk.Image(r.ctx(), w, n)
	switch none := new(waits.NoImageError); {
	case errors.As(err, &none):
		return &statusError{http.StatusNotFound, "Not found", sentence(none), "refused"}
	case err != nil:
		return err
	}
	h := r.w.Header()
	h.Set("Content-Security-Policy", imagePolicy)
	h.Set("Content-Type", x.Type)
	h.Set("Content-Disposition", `inline; filename="`+x.File+`"`)
	_, _ = r.w.Write(x.Data) // a browser that went away is told nothing
	return nil
}

// controls returns the parts of a form that are filled in each for itself.
func controls(f *echo.Form, given url.Values) []control {
	switch {
	case f == nil:
		return nil
	case f.Kind != echo.FormFields:
		return []control{{Name: nameAnswer, Kind: string(f.Kind), Options: f.Options, Most: f.Most, Required: !f.Custom, Given: given[nameAnswer]}}
	}
	var out []control
	for _, x := range f.Fields {
		name := prefixField + x.Name
		label := x.Label
		if label == "" {
			label = x.Name
		}
		out = append(out, control{Name: name, Label: label, Kind: string(x.Kind), Options: x.Options, Most: x.Most, Required: x.Required, Given: given[name]})
	}
	return out
}

// answerText returns what was answered in a line.
func answerText(a *echo.Answer) string {
	return oneline.Cut(oneline.Of(clean(echo.AsText(a.Value))), 400)
}

// sentence returns an error as a sentence.
func sentence(err error) string {
	text := clean(err.Error())
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// answer takes what a person has filled in.
func (r *request) answer() error {
	if !r.needLogin() {
		return nil
	}
	w, err := r.find()
	if err != nil {
		r.refused = failure.KindOf(err)
		return r.ended(http.StatusConflict, err)
	}
	in := r.r.PostForm
	switch {
	case in.Get(nameShown) != versionOf(w):
		r.refused = failure.AlreadyAnswered
		return r.showWait(http.StatusConflict, w, func(v *waitView) {
			v.Problem, v.Given = "What was asked has changed since you opened this page. Nothing was sent. This is what is asked now.", nil
		})
	case !r.login.holds(in.Get(nameToken), about(w)):
		return errToken
	case w.Form == nil:
		return &statusError{http.StatusConflict, "Nothing to answer", "This wait is for a signal: windlass signal " + w.Signal, "refused"}
	}
	return r.take(w, in)
}

// take leaves an answer, or says why it is none.
func (r *request) take(w *waits.Wait, in url.Values) error {
	value, scope, err := given(w, in)
	if err == nil && w.Kind == echo.WaitApproval && in.Get(nameAnswer) == string(waiting.Edit) {
		var shown bool
		if shown, err = r.review(w, in, value); shown {
			return err
		}
	}
	if err != nil {
		r.refused = failure.InvalidAnswer
	} else {
		err = r.Desk.Answer(r.ctx(), w, Given{Value: value, Shown: w.Shown, Scope: scope, By: r.By})
	}
	var form *waiting.FormError
	switch {
	case err == nil:
		http.Redirect(r.w, r.r, pathWaits+"/"+w.ID+"?answered", http.StatusSeeOther)
		return nil
	case failure.Is(err, failure.AlreadyAnswered):
		return r.late(w, err)
	case failure.Is(err, failure.InvalidAnswer), errors.As(err, &form):
		if errors.As(err, &form) {
			err = form
		}
		return r.showWait(http.StatusUnprocessableEntity, w, func(v *waitView) { v.Problem = "The answer was not taken: " + clean(err.Error()) + "." })
	}
	return err
}

// late shows who was faster.
func (r *request) late(w *waits.Wait, err error) error {
	return r.showWait(http.StatusConflict, w, func(v *waitView) {
		v.Problem = sentence(err) + " Your answer does not count."
		var taken *mailbox.TakenError
		if errors.As(err, &taken) {
			v.Problem = "Somebody was faster. Your answer does not count."
			v.Done = &done{Answer: &taken.Answer, Text: answerText(&taken.Answer)}
		}
	})
}

// review shows what an edit changes, before it is sent; shown is false when that was done: the request has the token of
// exactly these arguments.
func (r *request) review(w *waits.Wait, in url.Values, value any) (shown bool, err error) {
	checked, err := waits.Accept(w, value)
	if err != nil {
		return false, err
	}
	d, _ := checked.(map[string]any)
	args, err := waiting.Canonical(jsonOf(d["arguments"]))
	if err != nil {
		return false, err
	}
	reviewed := "edit\n" + about(w) + "\n" + string(args)
	if r.login.holds(in.Get(nameStep), reviewed) {
		return false, nil
	}
	text := waiting.Visible(args)
	return true, r.showWait(http.StatusOK, w, func(v *waitView) {
		v.Edit = &edit{Lines: linediff.Of(v.Arguments, text), Arguments: text, Token: r.login.token(reviewed)}
		v.Given = maps.Clone(in)
		v.Given.Set(nameArguments, text)
	})
}

// waitHTML sends what a model has written for a question.
func waitHTML(r *request) error {
	if r.login == nil {
		return &statusError{http.StatusUnauthorized, "Closed", "Open the page again.", "refused"}
	}
	w, err := r.find()
	if err != nil {
		return r.ended(http.StatusGone, err)
	}
	if w.Form == nil || w.Form.HTML == "" {
		return nothing(r)
	}
	return r.sendHTML(w.Form.HTML, fmt.Sprintf("%s/%s", pathWaits, w.ID))
}
