package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/audit"
)

// Screens are pages that another package makes. They stand behind the logins and the headers of this page, and in its
// frame: their templates begin with {{template "head" .}} and end with {{template "foot" .}}; .Data is theirs.
type Screens struct {
	Name    string           // the folder of their files: /page/NAME/FILE
	Files   fs.FS            // *.html are templates; NAME.css and NAME.js go into each page
	Funcs   template.FuncMap // further functions of the templates
	Nav     []Link           // in the bar of every page
	Answers map[string]Answer
}

// Answer answers the requests of one pattern of [http.ServeMux], such as "GET /sessions/{session}". Its errors have a
// kind, or are of [Missing] and [Refusal]; others are failures of windlass.
type Answer func(*Visit) error

// Link is an address of the page with its name.
type Link struct{ Title, Path string }

// Visit is one request of a browser that has a login. It ends with the answer.
type Visit struct {
	req     *request
	screens *screens

	Scripts, Styles []string // addresses of what this answer needs besides
}

// screens are [Screens] with their templates.
type screens struct {
	Screens
	views           *template.Template
	scripts, styles []string
}

func newScreens(base *template.Template, s Screens) (*screens, error) {
	views, err := base.Clone()
	if err != nil {
		return nil, err
	}
	found, err := fs.Glob(s.Files, "*.html")
	if err == nil && len(found) > 0 {
		views, err = views.Funcs(s.Funcs).ParseFS(s.Files, found...)
	}
	if err != nil {
		return nil, fmt.Errorf("the templates of %s: %w", s.Name, err)
	}
	out := &screens{Screens: s, views: views}
	for _, file := range []struct {
		end string
		to  *[]string
	}{{".js", &out.scripts}, {".css", &out.styles}} {
		if name := s.Name + file.end; exists(s.Files, name) {
			*file.to = append(*file.to, pathPage+s.Name+"/"+name)
		}
	}
	return out, nil
}

func exists(f fs.FS, name string) bool {
	_, err := fs.Stat(f, name)
	return err == nil
}

// answer makes the handler of one pattern. A page without a login is asked to be opened; everything else is refused.
func (s *screens) answer(a Answer) func(*request) error {
	return func(r *request) error {
		if code := r.r.URL.Query().Get("code"); code != "" && r.r.Method == http.MethodGet {
			r.open(code)
			return nil
		}
		if r.login == nil && wantsPage(r.r) {
			r.needLogin()
			return nil
		}
		if r.login == nil {
			return &statusError{http.StatusUnauthorized, "Closed", "Open the page again.", "refused"}
		}
		return a(&Visit{req: r, screens: s})
	}
}

// wantsPage reports whether a browser shows what it gets as a page.
func wantsPage(r *http.Request) bool {
	dest := r.Header.Get("Sec-Fetch-Dest")
	return r.Method == http.MethodGet && (dest == "document" || dest == "" && strings.Contains(r.Header.Get("Accept"), "text/html"))
}

// file sends a file of the screens that is no template.
func (s *screens) file(r *request) error {
	name := r.r.PathValue("file")
	kind := mediaTypes[path.Ext(name)]
	text, err := fs.ReadFile(s.Files, name)
	if kind == "" || err != nil {
		return nothing(r)
	}
	r.sendFile(kind, text)
	return nil
}

// sendFile sends a file of the binary, or says that the browser has it.
func (r *request) sendFile(kind string, text []byte) {
	h := r.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "private, no-cache") // it is asked for again, and sent again when it is another one
	h.Set("ETag", `"`+short(string(text))+`"`)
	http.ServeContent(r.w, r.r, "", time.Time{}, bytes.NewReader(text))
}

var mediaTypes = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".json": "application/json"}

// View is what a template of screens is given.
type View struct {
	frame
	Data any
}

// Context ends when the browser goes away.
func (v *Visit) Context() context.Context { return v.req.ctx() }

// Of returns a part of the address, by its name in the pattern.
func (v *Visit) Of(name string) string { return v.req.r.PathValue(name) }

// Path returns the address without its query.
func (v *Visit) Path() string { return v.req.r.URL.Path }

// Query returns the query of the address.
func (v *Visit) Query() url.Values { return v.req.r.URL.Query() }

// Form returns the fields of a form that was sent. A screen that changes something asks [Visit.Holds] first.
func (v *Visit) Form() url.Values { return v.req.r.PostForm }

// Token returns what the field "token" of a form is to have that is about something.
func (v *Visit) Token(about string) string { return v.req.login.token(about) }

// Holds returns an error unless the form that was sent has the [Visit.Token] of what it is about.
func (v *Visit) Holds(about string) error {
	if !v.req.login.holds(v.req.r.PostForm.Get("token"), about) {
		return errToken
	}
	return nil
}

// IsPage reports whether the browser shows the answer as a page.
func (v *Visit) IsPage() bool { return wantsPage(v.req.r) }

// ShowAgain has the browser ask for the page again after a while, in whole seconds.
func (v *Visit) ShowAgain(after time.Duration) {
	v.req.w.Header().Set("Refresh", strconv.Itoa(int(after/time.Second)))
}

// User returns who answers for what is changed on the page.
func (v *Visit) User() string { return v.req.By }

// Audit keeps what was changed, or was refused by whom the screen has asked.
func (v *Visit) Audit(what, session, target string, failed error) {
	if v.req.Audit == nil {
		return
	}
	v.req.kept = true
	l := audit.Line{At: v.req.Now().UTC(), By: v.req.By, Via: "page", What: what, Session: session, Target: target, Outcome: audit.Done}
	if failed != nil {
		l.Outcome, l.Reason = audit.Refused, failed.Error()
	}
	if err := v.req.Audit(l); err != nil {
		v.req.Log.Printf("keep what was done: %v", err)
	}
}

// Audited says that the audit has what was done, or refused.
func (v *Visit) Audited() { v.req.kept = true }

// Show answers with a template of the screens.
func (v *Visit) Show(view, title string, data any) error {
	return v.ShowAs(http.StatusOK, view, title, data)
}

// ShowAs is [Visit.Show] with a status of HTTP.
func (v *Visit) ShowAs(status int, view, title string, data any) error {
	f := v.req.frame(clean(title))
	f.Wide, f.Scripts, f.Styles = true, slices.Concat(v.Scripts, v.screens.scripts), slices.Concat(v.Styles, v.screens.styles)
	v.req.show(v.screens.views, status, view, View{f, data})
	return nil
}

// JSON answers a script.
func (v *Visit) JSON(value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	v.Bytes("application/json", text)
	return nil
}

// Bytes answers a script with what it understands.
func (v *Visit) Bytes(mediaType string, b []byte) {
	v.req.w.Header().Set("Content-Type", mediaType)
	_, _ = v.req.w.Write(b) // a browser that went away is told nothing
}

// Download answers with a file that the browser keeps and does not show. name has letters, digits, "-", "_" and "." only.
func (v *Visit) Download(name, mediaType string, write func(io.Writer) error) error {
	v.req.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	v.req.w.Header().Set("Content-Type", mediaType)
	return write(v.req.w)
}

// Redirect has the browser ask for an address of the page.
func (v *Visit) Redirect(to string) error {
	http.Redirect(v.req.w, v.req.r, to, http.StatusSeeOther)
	return nil
}

// Stream sends server-sent events until look reports the last, the browser goes away or the server ends. look is asked
// at once and then every [StreamEvery]; it returns "" when there is nothing to say, and else one line.
func (v *Visit) Stream(look func() (line string, last bool, err error)) error {
	v.req.w.Header().Set("Content-Type", "text/event-stream")
	v.req.w.Header().Set("X-Accel-Buffering", "no") // for proxies that would collect the stream
	control := http.NewResponseController(v.req.w)
	tick := time.NewTicker(StreamEvery)
	defer tick.Stop()
	for silent := 0; ; silent++ {
		line, last, err := look()
		if err != nil {
			v.req.Log.Printf("%s %q: %v", v.req.r.Method, v.req.r.URL.Path, err)
			line, last = "failed", true
		}
		switch {
		case line != "":
			line, silent = "data: "+line+"\n\n", 0
		case silent%heartbeats == 0:
			line = ": still there\n\n"
		}
		if line != "" {
			_ = control.SetWriteDeadline(time.Now().Add(sendTime)) // not supported by the recorders of tests
			if _, err := io.WriteString(v.req.w, line); err != nil || control.Flush() != nil {
				return nil // the browser went away
			}
		}
		if last {
			return nil
		}
		select {
		case <-v.req.ctx().Done():
			return nil
		case <-v.req.stopping:
			return nil
		case <-tick.C:
		}
	}
}

// StreamEvery is how often a stream looks for something new.
const StreamEvery = 250 * time.Millisecond

const (
	heartbeats = 60 // looks
	sendTime   = 30 * time.Second
)

// Missing returns the error of an address that names nothing.
func Missing(format string, args ...any) error {
	return &statusError{http.StatusNotFound, "Not found", fmt.Sprintf(format, args...), "refused"}
}

// Refusal returns the error of a request that a person can mend.
func Refusal(status int, format string, args ...any) error {
	return &statusError{status, "Refused", fmt.Sprintf(format, args...), "refused"}
}

// EndStreams lets every stream end. It is safe to call twice.
func (p *Page) EndStreams() { p.stop.Do(func() { close(p.stopping) }) }
