package inspect

import (
	"fmt"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
)

type sentMessage struct {
	*echo.Message
	form *SentForm
}

func flatten(forms []SentForm) []sentMessage {
	var out []sentMessage
	for i := range forms {
		for _, m := range forms[i].Sent {
			out = append(out, sentMessage{m, &forms[i]})
		}
	}
	return out
}

func commonPrefix(was, is []SentForm) Prefix {
	var p Prefix
	from, to := flatten(was), flatten(is)
	for p.Messages < min(len(from), len(to)) && alike(from[p.Messages].Message, to[p.Messages].Message) {
		p.Tokens += autocontext.Tokens(to[p.Messages].Message)
		p.Messages++
	}
	total := p.Tokens
	for _, m := range to[p.Messages:] {
		total += autocontext.Tokens(m.Message)
	}
	if total > 0 {
		p.Share = float64(p.Tokens) / float64(total)
	}
	p.Why = whyItEnds(from[p.Messages:], to[p.Messages:])
	return p
}

func whyItEnds(from, to []sentMessage) string {
	switch {
	case len(from) == 0 && len(to) == 0:
		return "the requests are equal"
	case len(from) == 0:
		return "the second request goes on where the first one ends"
	case len(to) == 0:
		return "the second request ends there, the first one goes on"
	case from[0].form.Hash == to[0].form.Hash:
		f, t := from[0].form, to[0].form
		return fmt.Sprintf("%s was sent %s (%s) and is sent %s (%s)", nameOf(t), f.Form, f.Reason, t.Form, t.Reason)
	}
	return fmt.Sprintf("then comes %s, where %s was", nameOf(to[0].form), nameOf(from[0].form))
}

func nameOf(f *SentForm) string {
	what := string(f.Role)
	if f.Tool != "" {
		what += " " + f.Tool
	}
	return fmt.Sprintf("%s (%s)", f.Hash, what)
}
