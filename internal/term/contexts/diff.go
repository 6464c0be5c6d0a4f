package contexts

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// Diff writes what changed between the requests of two calls.
func Diff(o Out, d *inspect.Diff) error {
	p := printer{Out: o}
	for _, c := range []struct {
		name string
		*inspect.Call
	}{{"from", d.From}, {"to", d.To}} {
		p.line("%-5s call %d: %s, %s, %s tokens", c.name, c.Number, c.Place(), term.Plural(c.MessageCount, "message"), term.Count(c.ContextSize))
	}
	p.line("")
	p.table(diffTable(d.Messages))
	p.line("\n%s\n%s.", equalPart(&d.Prefix), capital(term.Cell(d.Prefix.Why)))
	return p.err
}

// equalPart says how much of two requests is equal.
func equalPart(p *inspect.Prefix) string {
	what := fmt.Sprintf("The first %d messages are equal", p.Messages)
	switch p.Messages {
	case 0:
		return "The requests differ from the first message on: a prefix cache can give nothing."
	case 1:
		what = "The first message is equal"
	}
	return fmt.Sprintf("%s: %s tokens, %s of the second request, which a prefix cache can give.", what, term.Count(p.Tokens), quantity.Share(p.Share, 1))
}

// diffTable lists changes; messages that follow each other and are the same share a line.
func diffTable(list []inspect.MessageChange) *term.Table {
	t := term.NewTable("", ">from", ">to", "message", "hash", "was", "is", "why", ">tokens")
	for i := 0; i < len(list); {
		n := i
		for n < len(list) && list[n].Change == inspect.Same {
			n++
		}
		if n-i > 1 {
			t.Add("=", places(list[i:n], fromSide), places(list[i:n], toSide), term.Plural(n-i, "message"), "", "", "same", "", term.Count(tokensOf(list[i:n])))
			i = n
			continue
		}
		c := &list[i]
		mark := map[inspect.Change]string{inspect.Same: "=", inspect.Changed: "~", inspect.Added: "+", inspect.Gone: "-"}[c.Change]
		what := string(c.Role)
		if c.Tool != "" {
			what += " " + c.Tool
		}
		none := &inspect.Side{} // for a message that is not in the history
		from, to := cmp.Or(c.From, none), cmp.Or(c.To, none)
		t.Add(mark, places(list[i:i+1], fromSide), places(list[i:i+1], toSide), what, string(c.Hash),
			string(from.Form), string(to.Form), string(to.Reason), sizes(c))
		i++
	}
	return t.Key("hash").Drop("tokens", "to", "was")
}

func fromSide(c *inspect.MessageChange) *inspect.Side { return c.From }
func toSide(c *inspect.MessageChange) *inspect.Side   { return c.To }

// places names the places that messages have in a request.
func places(list []inspect.MessageChange, side func(*inspect.MessageChange) *inspect.Side) string {
	first, last := 0, 0
	for i := range list {
		if s := side(&list[i]); s != nil && s.Position > 0 {
			if first == 0 {
				first = s.Position
			}
			last = s.Position + s.Messages - 1
		}
	}
	switch first {
	case 0:
		return ""
	case last:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d-%d", first, last)
}

func tokensOf(list []inspect.MessageChange) int64 {
	var sum int64
	for _, c := range list {
		sum += c.To.Tokens
	}
	return sum
}

// sizes are the tokens of a message in both requests, once when they are equal or one has it.
func sizes(c *inspect.MessageChange) string {
	switch {
	case c.From == nil:
		return term.Count(c.To.Tokens)
	case c.To == nil, c.From.Tokens == c.To.Tokens:
		return term.Count(c.From.Tokens)
	}
	return term.Count(c.From.Tokens) + " -> " + term.Count(c.To.Tokens)
}

// capital begins a sentence.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
