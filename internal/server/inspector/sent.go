package inspector

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/linediff"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/page"
)

// How many messages of a request a page has, and how many characters of each.
const (
	messagesAPage  = 100
	charactersEach = 6000
	mostLines      = 400 // of a diff
)

// sentView is the screen of a request.
type sentView struct {
	head
	Call     *inspect.Call
	Place    string
	Raw      bool
	Toggle   string // the same page, raw or readable
	Steps    []page.Link
	Against  string // the call that this one is compared with; "": none
	Prefix   *inspect.Prefix
	Broken   *broken
	Messages []sentMessage
	Gone     []goneMessage
	Pages    []page.Link
	Page     string
	Tools    []offeredTool
	SQL      string
}

// broken is where the common beginning with the call before ends.
type broken struct {
	Before   int // the position of the message in front of which it ends
	Why      string
	Messages int
	Tokens   int64
	Cost     string
}

// sentMessage is a message of a request, or a message of the history that nothing was sent for.
type sentMessage struct {
	Position int // from 1; 0: nothing was sent
	Role     string
	Tool     string
	Form     string
	Reason   string
	Tokens   int64
	Hash     string
	Life     string
	Text     string
	Left     int // characters that are not shown
	Calls    []calledTool
	Notes    []string
	Raw      string
	compared
}

// compared is how a message stands against the call before.
type compared struct {
	Change string // "": not compared
	Lines  []linediff.Line
	Broken *broken // the common beginning ends in front of it
}

// calledTool is a call in a message of a model.
type calledTool struct{ Name, Arguments string }

// goneMessage is a message that the call before had and this one has not.
type goneMessage struct {
	Position         int // in the call before
	Role, Hash, Life string
	Tokens           int64
}

// offeredTool is a tool that a phase names, with how often the call's answer has called it.
type offeredTool struct {
	Name   string
	Called int
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
	shown, err := r.Show(c)
	if err != nil {
		return err
	}
	view := sentView{
		head: v.head("calls"), Call: c, Place: c.Place(), Raw: v.Query().Has("raw"), SQL: sentSQL(v.of.ID, c),
		Steps: v.steps(r, c), Tools: v.tools(c),
	}
	view.Toggle = v.toggle(view.Raw)
	var before *inspect.Shown
	if from := previous(r, c); from != nil {
		if before, err = r.Show(from); err != nil {
			return err
		}
		diff, err := r.Diff(from, c)
		if err != nil {
			return err
		}
		view.compare(v, from, diff)
		view.Messages = v.messages(shown, before, diff, &view)
	} else {
		view.Messages = v.messages(shown, nil, nil, &view)
	}
	v.paginate(&view)
	return v.Show("sent", v.of.ID+": "+c.Place(), view)
}

// previous returns the call before one in the same conversation, nil when it is the first.
func previous(r *inspect.Record, c *inspect.Call) *inspect.Call {
	if c.Number == 0 {
		return nil
	}
	for i := c.Number - 2; i >= 0; i-- {
		if b := &r.Calls[i]; b.Visit == c.Visit && b.Branch == c.Branch {
			return b
		}
	}
	return nil
}

// compare takes over what changed since another call.
func (s *sentView) compare(v *visit, from *inspect.Call, d *inspect.Diff) {
	s.Against, s.Prefix = from.Place(), &d.Prefix
	lost := d.Break()
	if lost.Messages > 0 {
		s.Broken = &broken{Before: d.Prefix.Messages + 1, Why: d.Prefix.Why, Messages: lost.Messages, Tokens: lost.Tokens, Cost: "not known"}
		if t, ok := inspect.Tariffs(v.of.Entries)[s.Call.Model]; ok {
			s.Broken.Cost = quantity.USD(lost.CostUSD(t, s.Call.ContextSize))
		}
	}
	for _, m := range d.Messages {
		if m.Change == inspect.Gone && m.From != nil {
			s.Gone = append(s.Gone, goneMessage{m.From.Position, string(m.Role), string(m.Hash), lifePath(v.of.ID, m.Hash), m.From.Tokens})
		}
	}
}

// steps are the calls around one.
func (v *visit) steps(r *inspect.Record, c *inspect.Call) (out []page.Link) {
	if c.Number == 0 {
		return nil
	}
	if b := previous(r, c); b != nil {
		out = append(out, page.Link{Title: "Before, in this conversation", Path: callPath(v.of.ID, b.Key)})
	}
	if i := slices.IndexFunc(r.Calls[c.Number:], func(n inspect.Call) bool { return n.Visit == c.Visit && n.Branch == c.Branch }); i >= 0 {
		out = append(out, page.Link{Title: "Next, in this conversation", Path: callPath(v.of.ID, r.Calls[c.Number+i].Key)})
	}
	return out
}

// toggle is the same page in the other way.
func (v *visit) toggle(raw bool) string {
	q := url.Values{}
	if p := v.Query().Get("page"); p != "" {
		q.Set("page", p)
	}
	if !raw {
		q.Set("raw", "1")
	}
	if len(q) == 0 {
		return v.Path()
	}
	return v.Path() + "?" + q.Encode()
}

// messages are those of the history of a call, in their order.
func (v *visit) messages(shown, before *inspect.Shown, d *inspect.Diff, view *sentView) (out []sentMessage) {
	changes := map[int]inspect.Change{}
	was := map[int]int{} // the position in the call before, by the position here
	if d != nil {
		for _, m := range d.Messages {
			if m.To != nil && m.To.Position > 0 {
				changes[m.To.Position] = m.Change
				if m.From != nil {
					was[m.To.Position] = m.From.Position
				}
			}
		}
	}
	for i := range shown.Forms {
		f := &shown.Forms[i]
		m := sentMessage{
			Position: f.Position, Role: string(f.Role), Tool: f.Tool, Form: string(f.Form), Reason: string(f.Reason), Tokens: f.Tokens,
			Hash: string(f.Hash), Life: lifePath(v.of.ID, f.Hash), compared: compared{Change: string(changes[f.Position])},
		}
		if f.Position == 0 {
			m.Change = ""
		}
		if b := view.Broken; b != nil && f.Position == b.Before {
			m.Broken = b
		}
		if inspect.Change(m.Change) == inspect.Changed && before != nil {
			m.Lines = changedLines(before, was[f.Position], f)
		}
		m.fill(f, view.Raw)
		out = append(out, m)
	}
	return out
}

// changedLines compares what was sent for a message with what the call before was sent for it.
func changedLines(before *inspect.Shown, position int, f *inspect.SentForm) []linediff.Line {
	i := slices.IndexFunc(before.Forms, func(b inspect.SentForm) bool { return b.Position == position && position > 0 })
	if i < 0 {
		return nil
	}
	lines := linediff.Of(textOf(before.Forms[i].Sent), textOf(f.Sent))
	for j := range lines {
		lines[j].Text = excerpt.Clip(waiting.VisibleText(lines[j].Text), 1000)
	}
	return lines[:min(len(lines), mostLines)]
}

func textOf(list []*echo.Message) string {
	text := ""
	for _, m := range list {
		text += m.Text()
		for _, c := range m.ToolCalls() {
			text += "\n" + c.Name + " " + c.Arguments
		}
	}
	return text
}

// fill adds what was sent.
func (m *sentMessage) fill(f *inspect.SentForm, raw bool) {
	for _, s := range f.Sent {
		if raw {
			var left int
			m.Raw, left = cut(waiting.Visible(json.RawMessage(s.JSON())))
			m.Left += left
			continue
		}
		text, left := cut(s.Text())
		m.Text += text
		m.Left += left
		for _, c := range s.ToolCalls() {
			arguments, left := cut(waiting.Visible(json.RawMessage(c.Arguments)))
			m.Calls = append(m.Calls, calledTool{c.Name, arguments})
			m.Left += left
		}
		for _, p := range s.Parts() {
			if p.Type != echo.PartText {
				m.Notes = append(m.Notes, string(p.Type)+", "+quantity.Grouped(int64(len(p.URL)))+" characters of data, not shown here")
			}
		}
	}
}

// cut returns the beginning of a text, and how many characters are left out.
func cut(text string) (string, int) {
	if len(text) <= charactersEach {
		return text, 0
	}
	runes := []rune(text)
	if len(runes) <= charactersEach {
		return text, 0
	}
	return string(runes[:charactersEach]), len(runes) - charactersEach
}

// paginate keeps the messages of one page: the last, unless the address says another.
func (v *visit) paginate(view *sentView) {
	pages := (len(view.Messages) + messagesAPage - 1) / messagesAPage
	if pages < 2 {
		return
	}
	at, err := strconv.Atoi(v.Query().Get("page"))
	if err != nil || at < 1 || at > pages {
		at = pages
	}
	for i := range pages {
		q := url.Values{"page": {strconv.Itoa(i + 1)}}
		if view.Raw {
			q.Set("raw", "1")
		}
		view.Pages = append(view.Pages, page.Link{Title: strconv.Itoa(i + 1), Path: v.Path() + "?" + q.Encode()})
	}
	view.Page = strconv.Itoa(at)
	view.Messages = view.Messages[(at-1)*messagesAPage : min(at*messagesAPage, len(view.Messages))]
}

// tools are those that the phase of a call names in its cascade, and what else its answer has called.
func (v *visit) tools(c *inspect.Call) (out []offeredTool) {
	for _, name := range v.of.tackle(c.Phase) {
		out = append(out, offeredTool{Name: name})
	}
	for _, e := range v.of.Entries {
		if e.Key != c.Key || e.NodeType != echo.NodeModelCall || e.Message == nil {
			continue
		}
		for _, call := range e.Message.ToolCalls() {
			i := slices.IndexFunc(out, func(o offeredTool) bool { return o.Name == call.Name })
			if i < 0 {
				i = len(out)
				out = append(out, offeredTool{Name: call.Name})
			}
			out[i].Called++
		}
	}
	return out
}

// tackle returns the names of tools that a phase names in the cascade as the session began with it.
func (o *opened) tackle(phase string) (names []string) {
	if len(o.Entries) == 0 {
		return nil
	}
	h, err := journal.HeaderOf(o.Entries[0])
	if err != nil {
		return nil
	}
	var c struct {
		Phases []struct {
			Name   string            `json:"name"`
			Tackle []json.RawMessage `json:"tackle"`
		} `json:"phases"`
	}
	if json.Unmarshal(h.Cascade, &c) != nil {
		return nil // a tackle that is a text, such as "manifest", names none
	}
	for _, p := range c.Phases {
		if p.Name != phase {
			continue
		}
		for _, raw := range p.Tackle {
			var name string
			if json.Unmarshal(raw, &name) == nil {
				names = append(names, name)
			}
		}
	}
	return names
}

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
	for i := range pages {
		q := url.Values{"page": {strconv.Itoa(i + 1)}}
		if view.Phase != "" {
			q.Set("phase", view.Phase)
		}
		view.Pages = append(view.Pages, page.Link{Title: strconv.Itoa(i + 1), Path: v.Path() + "?" + q.Encode()})
	}
	if view.Page = strconv.Itoa(at); pages < 2 {
		view.Pages = nil
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
		l.Saved = quantity.Share(float64(c.TokensSaved)/float64(c.FullHistorySize), 0)
	}
	if c.ContextSize > 0 {
		l.Shared = quantity.Share(float64(c.SharedSize)/float64(c.ContextSize), 0)
	}
	if c.Counted && c.TokensIn > 0 {
		l.Reported = quantity.Share(float64(c.TokensCached)/float64(c.TokensIn), 0)
	}
	return l
}
