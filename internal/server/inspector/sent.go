package inspector

import (
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strconv"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/server/page"
)

// How much of a request a page has.
const (
	messagesAPage = 100
	mostGone      = 100
)

// sentView is the screen of a request.
type sentView struct {
	head
	Call     *inspect.Call
	Place    string
	Raw      bool
	Links    []page.Link
	Fork     *forkForm
	JSON     string // address of the request as JSON
	Compared *comparison
	sentMessages
	Answer *said
	Tools  []offeredTool
	SQL    string
}

// sentMessages are those that a page has.
type sentMessages struct {
	Messages []sentMessage
	Pages    []page.Link
	Page     string
	Whole    int    // the position of the only message that is shown, whole; 0: all are
	AllPath  string // of the page without Whole
}

func sent(v *visit) error {
	r, err := v.of.Record()
	if err != nil {
		return err
	}
	c, err := r.Call(v.Of("call"))
	if err != nil {
		return err
	}
	from, err := v.against(r, c)
	if err != nil {
		return err
	}
	answer := v.of.answer(c.Key)
	view := sentView{
		head: v.head("calls"), Call: c, Place: c.Place(), Raw: v.Query().Has("raw"), Links: v.steps(r, c), JSON: requestPath(v.of.ID, c.Key),
		Fork: v.forkHere(c), Tools: v.toolsOf(c, answer), SQL: sentSQL(v.of.ID, c),
	}
	if err := view.fill(v, r, from); err != nil {
		return err
	}
	if answer != nil && view.Whole == 0 {
		view.Answer = &said{}
		view.Answer.add(answer)
	}
	return v.Show("sent", v.of.ID+": "+c.Place(), view)
}

// against returns the call that one is compared with: that of the address, or the one before in its conversation; nil: none.
func (v *visit) against(r *inspect.Record, c *inspect.Call) (*inspect.Call, error) {
	if name := v.Query().Get("against"); name != "" {
		return r.Call(name)
	}
	return previous(r, c), nil
}

// fill adds the messages of one page, or the one that the address asks for.
func (s *sentView) fill(v *visit, r *inspect.Record, from *inspect.Call) error {
	l := lister{v: v, view: s, was: map[int]*inspect.MessageChange{}}
	if from == nil {
		shown, err := r.Show(s.Call)
		if err != nil {
			return err
		}
		l.is = shown.Forms
	} else {
		d, err := r.Diff(from, s.Call)
		if err != nil {
			return err
		}
		s.Compared = v.compare(d)
		l.compare(d)
	}
	if name := v.Query().Get("whole"); name != "" {
		return l.whole(name)
	}
	l.page()
	return nil
}

// previous returns the call before one in the same conversation, nil when it is the first.
func previous(r *inspect.Record, c *inspect.Call) *inspect.Call {
	for i := c.Number - 2; i >= 0; i-- {
		if b := &r.Calls[i]; b.Visit == c.Visit && b.Branch == c.Branch {
			return b
		}
	}
	return nil
}

// steps are the calls around one in its conversation, and the same page in the other way.
func (v *visit) steps(r *inspect.Record, c *inspect.Call) (out []page.Link) {
	in := func(of *inspect.Call) bool { return of.Visit == c.Visit && of.Branch == c.Branch }
	add := func(title string, i int) {
		if i >= 0 && r.Calls[i].Number != c.Number {
			out = append(out, page.Link{Title: title, Path: callPath(v.of.ID, r.Calls[i].Key)})
		}
	}
	if c.Number > 0 {
		add("First of this conversation", slices.IndexFunc(r.Calls, func(of inspect.Call) bool { return in(&of) }))
		if b := previous(r, c); b != nil {
			add("Before", b.Number-1)
		}
		if i := slices.IndexFunc(r.Calls[c.Number:], func(of inspect.Call) bool { return in(&of) }); i >= 0 {
			add("Next", c.Number+i)
		}
		for i := range slices.Backward(r.Calls) {
			if in(&r.Calls[i]) {
				add("Last", i)
				break
			}
		}
	}
	if v.Query().Has("raw") {
		return append(out, page.Link{Title: "Readable", Path: v.with("raw", "")})
	}
	return append(out, page.Link{Title: "Raw, as sent", Path: v.with("raw", "1")})
}

// with returns the address of the page with one thing changed; "": without it.
func (v *visit) with(name, value string) string {
	q := v.Query()
	out := url.Values{}
	for _, known := range []string{"against", "page", "raw", "whole"} {
		if q.Has(known) {
			out.Set(known, q.Get(known))
		}
	}
	if out.Set(name, value); value == "" {
		out.Del(name)
	}
	if len(out) == 0 {
		return v.Path()
	}
	return v.Path() + "?" + out.Encode()
}

// answer returns what a model has answered to a call; nil: nothing.
func (o *opened) answer(key echo.Key) *echo.Message {
	for _, e := range slices.Backward(o.Entries) {
		if e.NodeType == echo.NodeModelCall && e.Key == key {
			return e.Message
		}
	}
	return nil
}

// request sends a request as JSON: what `windlass context show --json` prints.
func request(v *visit) error {
	r, err := v.of.Record()
	if err != nil {
		return err
	}
	c, err := r.Call(v.Of("call"))
	if err != nil {
		return err
	}
	shown, err := r.Show(c)
	if err != nil {
		return err
	}
	return v.Download("request-"+strconv.Itoa(c.Number)+".json", "application/json", func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(shown)
	})
}
