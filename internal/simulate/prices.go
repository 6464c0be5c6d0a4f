package simulate

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Prices is what sent tokens cost: in USD per million, or in units of a token that is not in the
// cache, where Input is 1.
type Prices struct {
	Name   string  `json:"name"` // as it was asked for
	Input  float64 `json:"input"`
	Cached float64 `json:"cached"`
	USD    bool    `json:"usd"`
}

// ErrNotPrices says that a text is not in a form of prices; it may be the name of a model.
var ErrNotPrices = errors.New("neither a share such as 0.1 nor IN:CACHED such as 2.5:0.25")

// ParsePrices reads "0.1", the price of a cached token as a share of another's, or "IN:CACHED" in
// USD per million tokens. A text of another form is [ErrNotPrices].
func ParsePrices(s string) (Prices, error) {
	in, cached, two := strings.Cut(s, ":")
	if !two {
		in, cached = "1", s
	}
	p := Prices{Name: s, USD: two}
	var errIn, errCached error
	p.Input, errIn = strconv.ParseFloat(in, 64)
	p.Cached, errCached = strconv.ParseFloat(cached, 64)
	if errIn != nil || errCached != nil {
		return Prices{}, fmt.Errorf("prices %q: %w", s, ErrNotPrices)
	}
	return p, p.check()
}

// check refuses prices that no simulation can be made with: with a cached token that costs more
// than a new one, the best request would share nothing.
func (p Prices) check() error {
	switch {
	case math.IsNaN(p.Input) || math.IsInf(p.Input, 0) || p.Input <= 0:
		return fmt.Errorf("prices %q: the price of a token must be a number above 0", p.Name)
	case math.IsNaN(p.Cached) || p.Cached < 0 || p.Cached > p.Input:
		return fmt.Errorf("prices %q: a cached token costs from nothing to as much as another, which is %v", p.Name, p.Input)
	}
	return nil
}

// ModelPrices returns the prices of a model's price card, in USD per million tokens.
func ModelPrices(model string, input, cached float64) (Prices, error) {
	p := Prices{Name: model, Input: input, Cached: cached, USD: true}
	return p, p.check()
}

// String says what the prices are.
func (p Prices) String() string {
	switch {
	case !p.USD && p.Cached == p.Input:
		return "nothing is cached"
	case !p.USD:
		return fmt.Sprintf("a cached token costs %v of another", p.Cached)
	}
	s := fmt.Sprintf("$%v per million tokens, $%v cached", p.Input, p.Cached)
	if !strings.Contains(p.Name, ":") {
		s = p.Name + ": " + s
	}
	return s
}

// Money returns the cost of a request with so many shared tokens, in USD or tokens at full price.
func (p Prices) Money(tokens, shared int64) float64 {
	m := float64(tokens-shared)*p.Input + float64(shared)*p.Cached
	if p.USD {
		m /= 1e6
	}
	return m
}
