package inspector

import (
	"cmp"
	"net/url"
	"strconv"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/page"
)

// callsView is the list of all requests.
type callsView struct {
	head
	Calls []listedCall
	Of    int
	Phase string
	Pages []page.Link
	Page  string
	SQL   string
}

// listedCall is a call in the list.
type listedCall struct {
	*inspect.Call
	Place, Path string
	Saved       string
	Shared      string
	Reported    string
	Cost        string
}

const callsAPage = 200

func calls(v *visit) error {
	r, err := v.of.Record()
	if err != nil {
		return err
	}
	view := callsView{head: v.head("calls"), Phase: v.Query().Get("phase"), SQL: callsSQL(v.of.ID)}
	part, err := echo.ParseKey(view.Phase)
	under := func(c *inspect.Call) bool { return err == nil && c.Key.Under(part) }
	var fit []*inspect.Call
	for i := range r.Calls {
		if c := &r.Calls[i]; view.Phase == "" || c.Phase == view.Phase || under(c) {
			fit = append(fit, c)
		}
	}
	view.Of = len(fit)
	pages := (len(fit) + callsAPage - 1) / callsAPage
	at, err := strconv.Atoi(cmp.Or(v.Query().Get("page"), "1"))
	if err != nil || at < 1 || at > max(pages, 1) {
		return page.Missing("There are %s of calls.", quantity.Of(max(pages, 1), "page"))
	}
	if pages > 1 {
		view.Page = strconv.Itoa(at)
		view.Pages = pagesOf(at, pages, func(n int) string {
			q := url.Values{"page": {strconv.Itoa(n)}}
			if view.Phase != "" {
				q.Set("phase", view.Phase)
			}
			return v.Path() + "?" + q.Encode()
		})
	}
	for _, c := range fit[min((at-1)*callsAPage, len(fit)):min(at*callsAPage, len(fit))] {
		view.Calls = append(view.Calls, newListedCall(v.of.ID, c))
	}
	return v.Show("calls", v.of.ID+": requests", view)
}

func newListedCall(id string, c *inspect.Call) listedCall {
	l := listedCall{Call: c, Place: c.Place(), Path: callPath(id, c.Key), Cost: "not known"}
	if c.CostUSD != nil {
		l.Cost = quantity.USD(*c.CostUSD)
	}
	if c.FullHistorySize > 0 {
		l.Saved = quantity.Share(float64(c.TokensSaved), float64(c.FullHistorySize))
	}
	if c.ContextSize > 0 {
		l.Shared = quantity.Share(float64(c.SharedSize), float64(c.ContextSize))
	}
	if c.Counted && c.TokensIn > 0 {
		l.Reported = quantity.Share(float64(c.TokensCached), float64(c.TokensIn))
	}
	return l
}

// pagesOf are links to the pages of a list: the first, the last and those around one. A link without an address stands for those
// between.
func pagesOf(at, pages int, path func(n int) string) (out []page.Link) {
	for n := 1; n <= pages; n++ {
		if n > 1 && n < pages && (n < at-3 || n > at+3) {
			if out[len(out)-1].Path != "" {
				out = append(out, page.Link{Title: "…"})
			}
			continue
		}
		out = append(out, page.Link{Title: strconv.Itoa(n), Path: path(n)})
	}
	return out
}
