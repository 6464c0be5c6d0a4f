package simulate

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/source"
)

// ChoiceError says which text is no "policy" or "prices", with which it begins, and why.
type ChoiceError struct {
	Err error
	Try string // what to write in its place; "": one of the forms
}

func (e *ChoiceError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *ChoiceError) Unwrap() error { return e.Err }

func choiceError(try, format string, args ...any) error {
	return &ChoiceError{Err: fmt.Errorf(format, args...), Try: try}
}

// ChoosePolicies reads policies: a name, an object of settings or @FILE with one, with or without
// NAME= before it; none: [ComparisonSet]. source names settings that are no file. An error is a
// [*ChoiceError], or says that settings are not valid, which the diagnostics explain.
func ChoosePolicies(texts []string, source string) ([]Policy, cascade.Diagnostics, error) {
	if len(texts) == 0 {
		return ComparisonSet(), nil, nil
	}
	var out []Policy
	var all cascade.Diagnostics
	for _, text := range texts {
		p, found, err := choosePolicy(text, source)
		all = append(all, found...)
		if err != nil {
			return nil, all, err
		}
		if slices.ContainsFunc(out, func(q Policy) bool { return q.Name == p.Name }) {
			return nil, all, choiceError("NAME=OBJECT or NAME=@FILE gives one another name", "policy: there are two of the name %q", p.Name)
		}
		out = append(out, p)
	}
	return out, all, nil
}

func choosePolicy(text, from string) (Policy, cascade.Diagnostics, error) {
	if p, ok := NamedPolicy(text); ok {
		return p, nil, nil
	}
	name, body := text, text
	before, after, named := strings.Cut(text, "=")
	if named = named && before != "" && (strings.HasPrefix(after, "{") || strings.HasPrefix(after, "@")); named {
		name, body = before, after
	}
	settings := []byte(body)
	if path, ok := strings.CutPrefix(body, "@"); ok {
		var err error
		if settings, err = source.ReadFile(path, source.MaxBytes); err != nil {
			return Policy{}, nil, choiceError("a file with an object of intra_context settings", "policy %s: %w", text, err)
		}
		if from = path; !named {
			name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		}
	} else if !strings.HasPrefix(body, "{") {
		return Policy{}, nil, choiceError("", "policy %q: expected one of %s, a JSON object of intra_context settings, or @FILE with one",
			text, strings.Join(PolicyNames(), ", "))
	}
	if _, taken := NamedPolicy(name); taken || name == AsRun {
		return Policy{}, nil, choiceError("another name: NAME=OBJECT or NAME=@FILE", "policy %s: there is a policy of the name %q already", text, name)
	}
	p, found, err := ParsePolicy(name, from, settings)
	if err != nil {
		n, _ := found.Count()
		err = fmt.Errorf("the policy is not valid: %s", quantity.Of(n, "error"))
	}
	return p, found, err
}

// ChoosePrices reads prices as [ParsePrices] does; any other text is a model, whose price lookup
// returns, nil if unknown. An error is a [*ChoiceError], or one of ParsePrices or lookup.
func ChoosePrices(texts []string, lookup func(model string) (*config.Price, error)) ([]Prices, error) {
	var out []Prices
	for _, text := range texts {
		p, err := ParsePrices(text)
		if errors.Is(err, ErrNotPrices) {
			p, err = pricesOf(text, lookup)
		}
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(q Prices) bool { return q.Name == p.Name }) {
			return nil, choiceError("each once", "prices has %s twice", text)
		}
		out = append(out, p)
	}
	return out, nil
}

func pricesOf(model string, lookup func(string) (*config.Price, error)) (Prices, error) {
	price, err := lookup(model)
	switch {
	case err != nil:
		return Prices{}, err
	case price == nil:
		return Prices{}, choiceError("", "prices %q: neither a share such as 0.1, nor IN:CACHED such as 2.5:0.25, nor a model whose price is known", model)
	}
	cached := price.Input
	if price.CachedInput != nil {
		cached = *price.CachedInput
	}
	return ModelPrices(model, price.Input, cached)
}
