package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/net/html"

	"github.com/windlass-run/windlass/internal/server/page"
	"github.com/windlass-run/windlass/internal/waits"
)

// visitor is a browser with a login of a page of its own, which nobody else can reach.
type visitor struct {
	ctx    context.Context //nolint:containedctx // of one file
	site   *page.Page
	cookie *http.Cookie
	sheets []string
}

func newVisitor(ctx context.Context, o Options) (*visitor, error) {
	p, err := page.New(page.Options{Desk: noDesk{}, By: page.SystemUser(), Screens: o.Screens})
	if err != nil {
		return nil, fmt.Errorf("make the screens: %w", err)
	}
	v := &visitor{ctx: ctx, site: p, sheets: []string{"/page/style.css"}}
	a, err := v.get(p.Enter())
	if err != nil {
		return nil, err
	}
	cookies := (&http.Response{Header: a.header}).Cookies()
	if len(cookies) != 1 {
		return nil, errors.New("the page of the export gave no login")
	}
	v.cookie = cookies[0]
	for _, s := range o.Screens {
		v.sheets = append(v.sheets, "/page/"+s.Name+"/"+s.Name+".css")
	}
	return v, nil
}

// answer is what the page has answered. It implements [http.ResponseWriter].
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// statusError says that there is no such page.
type statusError struct {
	address string
	status  int
	text    string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the page %s: %s: %s", e.address, http.StatusText(e.status), e.text)
}

func (v *visitor) get(address string) (*answer, error) {
	r, err := http.NewRequestWithContext(v.ctx, http.MethodGet, "http://windlass.invalid"+address, http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask for %q: %w", address, err)
	}
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Sec-Fetch-Site", "none")
	r.Header.Set("Sec-Fetch-Mode", "navigate")
	r.Header.Set("Sec-Fetch-Dest", "document")
	if v.cookie != nil {
		r.AddCookie(v.cookie)
	}
	a := &answer{header: http.Header{}}
	v.site.ServeHTTP(a, r)
	return a, nil
}

// page asks for an address of the screens.
func (v *visitor) page(address string) (*document, error) {
	a, err := v.get(address)
	if err != nil {
		return nil, err
	}
	root, err := html.Parse(bytes.NewReader(a.body.Bytes()))
	if err != nil {
		return nil, fmt.Errorf("read the page %s: %w", address, err)
	}
	main := find(root, "main")
	if main == nil {
		return nil, fmt.Errorf("the page %s has no content", address)
	}
	if a.status != http.StatusOK {
		return nil, &statusError{address, a.status, strings.Join(strings.Fields(text(main)), " ")}
	}
	return newDocument(main, a.body.Len()), nil
}

// styles returns the style sheets of the screens.
func (v *visitor) styles() (string, error) {
	var b strings.Builder
	for _, sheet := range v.sheets {
		a, err := v.get(sheet)
		if err != nil {
			return "", err
		}
		if a.status == http.StatusOK {
			b.Write(a.body.Bytes())
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

// noDesk is the waits of a file: there are none.
type noDesk struct{}

func (noDesk) List(context.Context) ([]*waits.Wait, []string, error) { return nil, nil, nil }
func (noDesk) Find(_ context.Context, id string) (*waits.Wait, error) {
	return nil, &waits.UnknownError{Given: id}
}

func (noDesk) Image(context.Context, *waits.Wait, int) (*waits.Picture, error) {
	return nil, &waits.UnknownError{}
}

func (noDesk) Answer(context.Context, *waits.Wait, page.Given) error { return &waits.UnknownError{} }

func (noDesk) Earlier(context.Context, *waits.Wait) ([]page.Decided, error) {
	return nil, nil
}
