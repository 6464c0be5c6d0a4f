package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/simulate"
	files "github.com/windlass-run/windlass/internal/source"
)

// readConversations reads everything that is to be replayed, before anything is.
func readConversations(args []string) ([]*simulate.Conversation, error) {
	var all []*simulate.Conversation
	for _, arg := range args {
		found, err := readSource(arg)
		switch {
		case archive.IsOtherVersion(err):
			return nil, withExit(exitStorage, err, "") // it says itself what to do
		case journal.IsUnreadable(err):
			return nil, withExit(exitStorage, err, "restore the journal from a copy, or choose another session: windlass sessions list")
		case err != nil:
			return nil, asUsage(err, "docs/simulate.md describes the files")
		}
		all = append(all, found...)
	}
	if !slices.ContainsFunc(all, func(c *simulate.Conversation) bool { return c.Calls() > 0 }) {
		return nil, usageError(errors.New("there is no call to replay: no conversation has an assistant message with one before it"),
			"docs/simulate.md describes the files")
	}
	return all, nil
}

// asUsage makes an error one of usage, unless it says already what it is.
func asUsage(err error, hint string) error {
	var ee *exitError
	if errors.As(err, &ee) {
		return err
	}
	return usageError(err, hint)
}

// readSource reads one argument: a file when there is one of that name, else a session.
func readSource(arg string) ([]*simulate.Conversation, error) {
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return nil, usageError(fmt.Errorf("%s is a folder", arg), "windlass simulate "+filepath.Join(arg, "*.jsonl"))
	case err == nil:
		return simulate.ReadFile(arg)
	case !errors.Is(err, os.ErrNotExist):
		return nil, err
	}
	home, err := homeFolder()
	if err != nil {
		return nil, err
	}
	arc := archive.Archive{Home: home}
	id, err := arc.Here(arg)
	switch {
	case err != nil:
		return nil, asExit(err)
	case id == "" || arg == "":
		return nil, usageError(fmt.Errorf("there is no file %q, and no session on this machine whose id begins so", arg), "windlass sessions list")
	}
	rec, err := journal.Read(archive.JournalPath(home, id))
	if err != nil {
		return nil, err
	}
	return simulate.FromRecording(id, rec)
}

// choosePolicies reads --policy.
func (a *app) choosePolicies(texts []string) ([]simulate.Policy, error) {
	if len(texts) == 0 {
		return simulate.ComparisonSet(), nil
	}
	var out []simulate.Policy
	for _, text := range texts {
		p, err := a.choosePolicy(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(q simulate.Policy) bool { return q.Name == p.Name }) {
			return nil, usageError(fmt.Errorf("--policy: there are two of the name %q", p.Name), "NAME=OBJECT or NAME=@FILE gives one another name")
		}
		out = append(out, p)
	}
	return out, nil
}

// choosePolicy reads NAME, [NAME=]OBJECT or [NAME=]@FILE.
func (a *app) choosePolicy(text string) (simulate.Policy, error) {
	if p, ok := simulate.NamedPolicy(text); ok {
		return p, nil
	}
	name, body, named := text, text, false
	if before, after, ok := strings.Cut(text, "="); ok && before != "" && (strings.HasPrefix(after, "{") || strings.HasPrefix(after, "@")) {
		name, body, named = before, after, true
	}
	source, settings := "--policy", []byte(body)
	if path, ok := strings.CutPrefix(body, "@"); ok {
		var err error
		if settings, err = files.ReadFile(path, files.MaxBytes); err != nil {
			return simulate.Policy{}, usageError(fmt.Errorf("--policy %s: %w", text, err), "a file with an object of intra_context settings")
		}
		if source = path; !named {
			name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		}
	} else if !strings.HasPrefix(body, "{") {
		return simulate.Policy{}, usageError(fmt.Errorf("--policy %q: expected one of %s, a JSON object of intra_context settings, or @FILE with one",
			text, strings.Join(simulate.PolicyNames(), ", ")), "windlass simulate --help")
	}
	if _, taken := simulate.NamedPolicy(name); taken {
		return simulate.Policy{}, usageError(fmt.Errorf("--policy %s: there is a policy of the name %q already", text, name), "another name: NAME=OBJECT or NAME=@FILE")
	}
	p, found, err := simulate.ParsePolicy(name, source, settings)
	printDiagnostics(a.err, found)
	if err != nil {
		n, _ := found.Count()
		return simulate.Policy{}, usageError(fmt.Errorf("the policy is not valid: %s", plural(n, "error")),
			"docs/cascade.md describes the settings of intra_context")
	}
	return p, nil
}

// choosePrices reads --prices.
func choosePrices(texts []string) ([]simulate.Prices, error) {
	var out []simulate.Prices
	for _, text := range texts {
		p, err := simulate.ParsePrices(text)
		if errors.Is(err, simulate.ErrNotPrices) {
			p, err = modelPrices(text)
		}
		if err != nil {
			return nil, asUsage(err, "--prices 0.1, --prices 2.5:0.25, or --prices MODEL")
		}
		if slices.ContainsFunc(out, func(q simulate.Prices) bool { return q.Name == p.Name }) {
			return nil, usageError(fmt.Errorf("--prices has %s twice", text), "each once")
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, usageError(errors.New("--prices is empty"), "--prices 0.1, or leave it out")
	}
	return out, nil
}

// modelPrices looks a model up in windlass.json and in the table of well-known models.
func modelPrices(model string) (simulate.Prices, error) {
	_, cfg, err := settings()
	if err != nil {
		return simulate.Prices{}, err
	}
	price := llm.NewRouter(cfg, environment.Getenv).Price(model)
	if price == nil {
		return simulate.Prices{}, fmt.Errorf("--prices %q: neither a share such as 0.1, nor IN:CACHED such as 2.5:0.25, nor a model whose price is known", model)
	}
	cached := price.Input
	if price.CachedInput != nil {
		cached = *price.CachedInput
	}
	return simulate.ModelPrices(model, price.Input, cached)
}
