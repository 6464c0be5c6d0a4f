package config

import (
	"strings"

	"github.com/windlass-run/windlass/internal/config/strict"
	"github.com/windlass-run/windlass/internal/source"
)

// maxNotify bounds who is told of one wait.
const maxNotify = 8

const notifyForm = `{"webhook": "https://host/path"} or {"command": ["program", "argument"]}`

func (p parser) notify(n *source.Node) []Notify {
	defer p.Described("docs/people.md")()
	var out []Notify
	p.List(n, "notify", func(i int, item *source.Node) {
		switch {
		case i == maxNotify:
			p.Fail(item, "", "notify has more than %d of them", maxNotify)
			return
		case i > maxNotify:
			return
		}
		var t Notify
		is := p.Object(item, "one of notify", strict.Fields{
			"webhook": func(n *source.Node) { t.Webhook = p.webhook(n) },
			"headers": func(n *source.Node) { t.Headers = p.headers(n) },
			"command": func(n *source.Node) { t.Command = p.program(n) },
		})
		webhook, command := item.Get("webhook") != nil, item.Get("command") != nil
		switch {
		case !is:
		case webhook == command:
			p.Fail(item, notifyForm, "one of notify needs a webhook or a command, and not both")
		case command && item.Get("headers") != nil:
			p.Fail(item, notifyForm, "headers go with a webhook")
		}
		out = append(out, t)
	})
	return out
}

func (p parser) webhook(n *source.Node) string {
	s := p.String(n, "webhook")
	if n.Kind != source.String || variableRef().MatchString(s) {
		return s
	}
	if strings.Contains(s, "${") {
		p.Fail(n, `write "${NAME}" with a variable that has the whole address`, "webhook has a variable within the address")
		return ""
	}
	if why := CheckBaseURL(s); why != "" {
		p.Fail(n, `as in "https://host/path", or "${NAME}" with the name of an environment variable`, "webhook %s", why)
		return ""
	}
	return s
}

func (p parser) program(n *source.Node) []string {
	words := p.Strings(n, "command")
	if n.Kind == source.Array && (len(words) == 0 || strings.TrimSpace(words[0]) == "") {
		p.Fail(n, notifyForm, "command has no program")
	}
	for _, w := range words {
		if strings.ContainsRune(w, 0) {
			p.Fail(n, notifyForm, "command has a NUL character")
		}
	}
	return words
}
