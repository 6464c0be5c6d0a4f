package autocontext

import "github.com/windlass-run/windlass/echo"

// Form is how a message of the history appears in a request.
type Form string

// The forms.
const (
	FormFull Form = "full" // as it is
)

// Reason says why a message has its form.
type Reason string

// The reasons.
const (
	ReasonNoPolicy Reason = "no_policy" // no context settings apply: full history is sent
)

// Item is one message of the history and what becomes of it.
type Item struct {
	Message *echo.Message
	Form    Form
	Reason  Reason
}

// View is what one model call is sent: every message of the history in order, with its form.
type View struct {
	Items []Item
}

// Build returns the view of a history.
func Build(history []echo.Item) *View {
	v := &View{Items: make([]Item, len(history))}
	for i, h := range history {
		v.Items[i] = Item{Message: h.Message, Form: FormFull, Reason: ReasonNoPolicy}
	}
	return v
}

// Tokens estimates the tokens of a message as sent, its overhead included: a quarter of the bytes of its encoding. It
// is an estimate for records and reports, made without a tokenizer; what a provider counted is in the usage of the call.
func Tokens(m *echo.Message) int64 { return int64(len(m.JSON())+3) / 4 }

// Report sums the view up for the record.
func (v *View) Report() echo.Selection {
	var s echo.Selection
	for i, it := range v.Items {
		n := Tokens(it.Message)
		s.FullHistorySize += n
		s.ContextSize += n
		s.MessageCount++
		s.Spans = extend(s.Spans, i, it)
	}
	s.TokensSaved = s.FullHistorySize - s.ContextSize
	return s
}

// extend adds item i to the last span when form and reason are the same, else begins a span.
func extend(spans []echo.Span, i int, it Item) []echo.Span {
	if n := len(spans); n > 0 {
		if last := &spans[n-1]; last.Form == string(it.Form) && last.Reason == string(it.Reason) {
			last.Count++
			return spans
		}
	}
	return append(spans, echo.Span{From: i, Count: 1, Form: string(it.Form), Reason: string(it.Reason)})
}
