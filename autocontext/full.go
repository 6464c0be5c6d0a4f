package autocontext

import "github.com/windlass-run/windlass/echo"

// Build returns the view of a history without any policy.
func Build(history []echo.Item) *View {
	v := &View{Items: make([]Item, len(history))}
	for i, h := range history {
		v.Items[i] = Item{Message: h.Message, Form: FormFull, Reason: ReasonNoPolicy, Sent: h.Message, Tokens: Tokens(h.Message)}
	}
	return v
}
