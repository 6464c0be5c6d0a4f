// Package page is what windlass serve shows people in a browser: what runs wait for, with a form for each answer, and
// the artifacts of runs.
//
//   - access.go: codes that open the page once, the logins of browsers, CSRF tokens.
//   - guard.go: where requests come from; the headers of every answer.
//   - page.go: the addresses.
//   - list.go, wait.go: what the pages show.
//   - given.go: what a person has filled in, as the value of an answer.
//   - texts.go: texts and JSON as a person reads them safely.
//   - screens.go: the pages of other packages.
package page

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"html/template"
	"io"
	"log"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/failure"
)

//go:embed assets
var assets embed.FS

// Options say what the page is of.
type Options struct {
	Desk      Desk
	Artifacts Artifacts              // nil: there are none
	By        string                 // who answers: the user of the system that the server runs as
	Audit     func(audit.Line) error // keeps refused attempts; nil: nobody does
	Log       *log.Logger
	Now       func() time.Time // nil: the system's clock
	Screens   []Screens        // of other packages; the first of them has "/", if one has
}

// Page answers the requests of browsers. It is safe for concurrent use.
type Page struct {
	Options
	access *access
	views  *template.Template
	mux    *http.ServeMux
	nav    []Link
	below  map[string]bool // first parts of the addresses

	stop     sync.Once
	stopping chan struct{} // closed when streams are to end
}

// New returns a page.
func New(o Options) (*Page, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = log.New(io.Discard, "", 0)
	}
	views, err := template.New("").Funcs(funcs).ParseFS(assets, "assets/*.html")
	if err != nil {
		return nil, err
	}
	p := &Page{Options: o, access: newAccess(o.Now), views: views, mux: http.NewServeMux(), below: map[string]bool{}, stopping: make(chan struct{})}
	for pattern, handle := range map[string]func(*request) error{
		"GET " + pathWaits:                   (*request).list,
		"GET " + pathWaits + "/{id}":         (*request).wait,
		"POST " + pathWaits + "/{id}":        (*request).answer,
		"GET " + pathWaits + "/{id}/html":    waitHTML,
		"GET /artifacts/{session}/{id}":      (*request).artifact,
		"GET /artifacts/{session}/{id}/html": artifactHTML,
		"POST " + pathPage + "enter":         (*request).enter,
		"POST " + pathPage + "leave":         (*request).leave,
		"GET " + pathPage + "state":          state,
		"GET " + pathPage + "{asset}":        asset,
		"/":                                  nothing,
	} {
		p.handle(pattern, handle)
	}
	p.handle("GET "+pathWaits+"/{id}/images/{n}", waitImage)
	for _, set := range o.Screens {
		if err := p.add(set); err != nil {
			return nil, err
		}
	}
	p.nav = append(p.nav, Link{"Waits", pathWaits})
	return p, nil
}

func (p *Page) handle(pattern string, handle func(*request) error) {
	if _, address, ok := strings.Cut(pattern, " "); ok {
		p.below[firstPart(address)] = true
	}
	p.mux.HandleFunc(pattern, p.handler(handle))
}

func (p *Page) add(set Screens) error {
	s, err := newScreens(p.views, set)
	if err != nil {
		return err
	}
	p.nav = append(p.nav, set.Nav...)
	p.handle("GET "+pathPage+set.Name+"/{file}", s.file)
	for pattern, answer := range set.Answers {
		p.handle(pattern, s.answer(answer))
	}
	return nil
}

// firstPart returns the first part of an address, or of a pattern of one.
func firstPart(address string) string {
	part, _, _ := strings.Cut(strings.TrimPrefix(address, "/"), "/")
	if part == "{$}" {
		return ""
	}
	return part
}

// The addresses.
const (
	pathWaits     = "/waits"
	pathArtifacts = "/artifacts/"
	pathPage      = "/page/"
)

// Has reports whether an address is one of the page.
func (p *Page) Has(path string) bool { return p.below[firstPart(path)] }

// Enter returns the address that opens the page once, below the address of the server.
func (p *Page) Enter() string { return p.home() + "?code=" + url.QueryEscape(p.access.code()) }

// home is the address of the first page.
func (p *Page) home() string {
	if p.below[""] {
		return "/"
	}
	return pathWaits
}

// request is one request, with the login of its browser.
type request struct {
	*Page
	w     http.ResponseWriter
	r     *http.Request
	login *login // nil: it has none

	refused failure.Kind // why an answer was refused before the desk saw it; "": it was not
	kept    bool         // the audit has it already
}

func (r *request) ctx() context.Context { return r.r.Context() }

// maxBody is how many bytes a form may have: a text of an answer, each of whose bytes may be three.
const maxBody = 2 << 20

// ServeHTTP implements [http.Handler]. Who listens on loopback only has checked the Host before.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	p.mux.ServeHTTP(w, r)
}

func (p *Page) handler(handle func(*request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		req := &request{Page: p, w: w, r: r, login: p.access.loginOf(r)}
		err := req.check()
		if err == nil {
			err = handle(req)
		}
		req.audit(err)
		if err != nil {
			req.fail(err)
		}
	}
}

// statusError is what a person is told in place of a page.
type statusError struct {
	status      int
	title, text string
	kind        string // for the audit
}

func (e *statusError) Error() string { return e.title + ": " + e.text }

var (
	errStranger = &statusError{http.StatusForbidden, "Refused", "A page of another site sent this request. Nothing was changed.", "foreign_origin"}
	errToken    = &statusError{http.StatusForbidden, "Refused", "This form is not of this page as it is shown now. Nothing was changed. Open the page again.", "foreign_form"}
	errForm     = &statusError{http.StatusUnsupportedMediaType, "Refused", "Only the forms of this page are taken here. Programs use /api/waits.", "wrong_media_type"}
)

// check says why a request is not even looked at.
func (r *request) check() error {
	if originOf(r.r) == fromStranger {
		return errStranger
	}
	if r.r.Method != http.MethodPost {
		return nil
	}
	if media, _, _ := strings.Cut(r.r.Header.Get("Content-Type"), ";"); strings.TrimSpace(media) != "application/x-www-form-urlencoded" {
		return errForm
	}
	r.r.Body = http.MaxBytesReader(r.w, r.r.Body, maxBody)
	if err := r.r.ParseForm(); err != nil {
		if errors.As(err, new(*http.MaxBytesError)) {
			return &statusError{http.StatusRequestEntityTooLarge, "Too long", "The answer is longer than the page takes. Nothing was changed.", "body_too_large"}
		}
		return &statusError{http.StatusBadRequest, "Refused", "The form cannot be read. Nothing was changed.", "bad_request"}
	}
	return nil
}

// audit keeps that a change was refused before the desk was asked, which keeps the others.
func (r *request) audit(err error) {
	var s *statusError
	refused := errors.As(err, &s) || r.refused != "" || err == nil && r.login == nil
	if r.Audit == nil || r.kept || r.r.Method != http.MethodPost || !refused {
		return
	}
	l := audit.Line{At: r.Now().UTC(), By: "unknown", Via: string(echo.ViaPage), What: audit.Request, Target: r.r.PathValue("id"), Outcome: audit.Refused, Reason: "unauthorized"}
	switch {
	case r.refused != "":
		l.What, l.Reason = audit.Answer, string(r.refused)
	case s != nil:
		l.Reason = s.kind
	}
	if r.login != nil {
		l.By = r.By
	}
	if err := r.Audit(l); err != nil {
		r.Log.Printf("keep who was refused: %v", err)
	}
}

// needLogin shows how to open the page, and reports false, when the browser has no login.
func (r *request) needLogin() bool {
	if r.login != nil {
		return true
	}
	r.show(r.views, http.StatusUnauthorized, "enter", enterView{frame: r.frame("Open windlass"), From: r.r.URL.Path, IsLink: originOf(r.r) == fromLink})
	return false
}

// frame is what every page has.
type frame struct {
	Title  string
	Leave  string // the token that ends the login; "" without one
	Script bool
	Home   string
	Nav    []Link
	At     string // the address that is shown
	Wide   bool

	Scripts, Styles []string // further ones
}

func (r *request) frame(title string) frame {
	f := frame{Title: title, Script: r.login != nil, Home: r.home(), At: r.r.URL.Path}
	if r.login != nil {
		f.Leave, f.Nav = r.login.token(aboutLeave), r.nav
	}
	return f
}

// IsAt reports whether a link leads to the page that is shown.
func (f frame) IsAt(l Link) bool { return f.At == l.Path }

const aboutLeave = "leave"

type enterView struct {
	frame
	Code    string // that a person has to confirm
	From    string
	IsLink  bool
	Problem string
}

type messageView struct {
	frame
	Text string
}

// show writes a page. It is made as a whole before anything is sent.
func (r *request) show(views *template.Template, status int, view string, data any) {
	var b bytes.Buffer
	if err := views.ExecuteTemplate(&b, view, data); err != nil {
		r.Log.Printf("page %s: %v", view, err)
		http.Error(r.w, "windlass failed to make this page; its log says why", http.StatusInternalServerError)
		return
	}
	r.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	r.w.WriteHeader(status)
	_, _ = r.w.Write(b.Bytes()) // a browser that went away is told nothing
}

// fail shows an error. What is not for people goes to the log.
func (r *request) fail(err error) {
	var s *statusError
	switch {
	case errors.As(err, &s):
	case failure.Is(err, failure.UnknownWait):
		s = &statusError{http.StatusNotFound, "Not found", "There is no such wait. It may have ended: the list has those that are open.", "refused"}
	case failure.Is(err, failure.UnknownSession):
		s = &statusError{http.StatusNotFound, "Not found", clean(sentence(err)), "refused"}
	case r.ctx().Err() != nil:
		panic(http.ErrAbortHandler)
	case failure.KindOf(err) != failure.Failed:
		status := cmp.Or(statuses[failure.KindOf(err)], http.StatusUnprocessableEntity)
		s = &statusError{status, http.StatusText(status), clean(sentence(err)), "refused"}
	default:
		r.Log.Printf("%s %q: %v", r.r.Method, r.r.URL.Path, err)
		s = &statusError{http.StatusInternalServerError, "windlass failed", "The log of the server says why. Nothing was changed.", "refused"}
	}
	r.show(r.views, s.status, "message", messageView{frame: r.frame(s.title), Text: s.text})
}

// statuses are those of the errors whose words a person is shown; others of them have 422.
var statuses = map[failure.Kind]int{
	failure.UnknownCall: http.StatusNotFound, failure.UnknownMessage: http.StatusNotFound, failure.NoHandoff: http.StatusNotFound,
	failure.StorageFailed: http.StatusServiceUnavailable, failure.EngineMissing: http.StatusServiceUnavailable,
	failure.Damaged: http.StatusServiceUnavailable, failure.OtherVersion: http.StatusServiceUnavailable,
	failure.NotResumable: http.StatusConflict, failure.SessionBusy: http.StatusConflict, failure.AlreadyAnswered: http.StatusConflict,
}

func nothing(*request) error {
	return &statusError{http.StatusNotFound, "Not found", "There is nothing at this address.", "refused"}
}

// open exchanges the code of an address for a login. One that nobody has typed is asked about first.
func (r *request) open(code string) {
	if !isTyped(r.r) {
		r.show(r.views, http.StatusOK, "enter", enterView{frame: r.frame("Open windlass"), Code: code, From: r.r.URL.Path})
		return
	}
	r.exchange(code, r.r.URL.Path)
}

func (r *request) enter() error {
	to := r.r.PostForm.Get("to")
	if u, err := url.Parse(to); err != nil || u.Host != "" || u.Scheme != "" || path.Clean("/"+u.Path) != u.Path || !r.Has(u.Path) {
		to = r.home()
	}
	r.exchange(r.r.PostForm.Get("code"), to)
	return nil
}

// exchange gives the browser a login for a code, and has it ask for an address of the page.
func (r *request) exchange(code, to string) {
	secret, ok := r.access.enter(code)
	if !ok {
		r.show(r.views, http.StatusForbidden, "enter", enterView{frame: r.frame("Open windlass"), Problem: "This code was used, has expired, or is of a server that has ended."})
		return
	}
	http.SetCookie(r.w, cookie(r.r, secret))
	http.Redirect(r.w, r.r, (&url.URL{Path: to}).String(), http.StatusSeeOther)
}

func (r *request) leave() error {
	if r.login == nil || !r.login.holds(r.r.PostForm.Get("token"), aboutLeave) {
		return errToken
	}
	r.access.leave(r.r)
	http.SetCookie(r.w, cookie(r.r, ""))
	http.Redirect(r.w, r.r, r.home(), http.StatusSeeOther)
	return nil
}

// asset sends the style and the script of the page.
func asset(r *request) error {
	name := r.r.PathValue("asset")
	kind := map[string]string{"style.css": "text/css; charset=utf-8", "script.js": "text/javascript; charset=utf-8"}[name]
	if kind == "" {
		return nothing(r)
	}
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		return err
	}
	r.sendFile(kind, text)
	return nil
}

// sendHTML sends what a model has written, to a frame only: opened by itself it would be a page of its own.
func (r *request) sendHTML(html, above string) error {
	if !inFrame(r.r) {
		http.Redirect(r.w, r.r, above, http.StatusSeeOther)
		return nil
	}
	setFrameHeaders(r.w.Header())
	_, _ = io.WriteString(r.w, inert(html))
	return nil
}

// reaching are the tags by which a document without rights still reaches others: a browser connects to what a link of
// the kind preconnect or a frame names before it refuses to load it, looks up the names of hosts, and follows links.
var reaching = regexp.MustCompile(`(?i)<(link|meta|base|a|area|iframe|frame|frameset|object|embed|applet|portal|fencedframe|form)\b`)

// inert returns HTML without these tags: they become elements that mean nothing. A tag can be written in no other way.
func inert(html string) string { return reaching.ReplaceAllString(html, "<x-$1") }
