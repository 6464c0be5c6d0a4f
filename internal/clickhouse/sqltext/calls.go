package sqltext

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

func (t token) isName() bool { return t.kind == 'w' || t.kind == 'q' }

// called returns what the token at i calls: a name before a bracket, or behind APPLY.
func called(tokens []token, i int) (string, bool) {
	t := tokens[i]
	if !t.isName() {
		return "", false
	}
	if i+1 < len(tokens) && tokens[i+1].kind == '(' {
		return t.text, true
	}
	lambda := i+2 < len(tokens) && tokens[i+1].kind == '-' && tokens[i+2].kind == '>'
	return t.text, i > 0 && tokens[i-1].is("APPLY") && !lambda
}

// checkCalls looks at all functions, table functions and engines that are called or named to be.
func (g Guard) checkCalls(source string, tokens []token) error {
	var around []string // what the open brackets belong to
	lambdas := lambdaNames(tokens)
	for i, t := range tokens {
		name, call := called(tokens, i)
		switch {
		case call && t.kind == 'q' && strings.Contains(source[t.start:t.end], `\`):
			return errors.New("names with a backslash cannot be called here")
		case call && reachesOutside(name), t.isName() && takesFunction(around) && isName(t.text, nameOutward):
			return g.outward(t.text + "()")
		case call && g.knownOnly() && !isHarmless(name) && !isName(name, nameServer) && !slices.Contains(lambdas, name) && !isNoCall(tokens, i):
			return &RefusedError{What: name + "()", Why: "cannot be used here: windlass does not know what it reaches", Liftable: !g.Guest}
		}
		around = nest(around, tokens, i)
	}
	return nil
}

// lambdaNames returns the names of the statement's own functions: WITH (x -> x + 1) AS f.
func lambdaNames(tokens []token) []string {
	type bracket struct{ call, lambda bool }
	var names []string
	open := []bracket{{}}
	for i, t := range tokens {
		top := &open[len(open)-1]
		switch {
		case t.kind == '(':
			open = append(open, bracket{call: i > 0 && tokens[i-1].isName()})
		case t.kind == ')' && len(open) > 1:
			grouped := top.lambda && !top.call
			open = open[:len(open)-1]
			open[len(open)-1].lambda = open[len(open)-1].lambda || grouped
		case t.kind == ',':
			top.lambda = false
		case t.kind == '>' && i > 0 && tokens[i-1].kind == '-':
			top.lambda = true
		case t.isName() && i > 0 && tokens[i-1].is("AS"):
			if top.lambda {
				names = append(names, t.text)
			}
			top.lambda = false
		}
	}
	return names
}

// knownOnly reports whether functions of the server's administrator are refused.
func (g Guard) knownOnly() bool { return g.Guest || g.Embedded && !g.Write }

// nest follows the brackets: it returns what is around the token after i.
func nest(around []string, tokens []token, i int) []string {
	switch tokens[i].kind {
	case '(':
		name := ""
		if i > 0 && tokens[i-1].isName() {
			name = tokens[i-1].text
		}
		return append(around, name)
	case '[', '{':
		return append(around, tokens[i].text+"[")
	case ')', ']', '}':
		return around[:max(0, len(around)-1)]
	}
	return around
}

// takesFunction reports whether a bare name stands directly in a call that takes a function.
func takesFunction(around []string) bool {
	for _, name := range slices.Backward(around) {
		if name != "" { // else a bracket that only groups
			return isName(name, nameHigher)
		}
	}
	return false
}

// isNoCall reports whether the name at i, before a bracket, is a word of SQL or has columns.
func isNoCall(tokens []token, i int) bool {
	t := tokens[i]
	if t.kind == 'w' && slices.Contains(clauseWords(), t.text) {
		return true
	}
	if i > 0 && tokens[i-1].is("AS") { // FROM t AS u(a, b)
		return true
	}
	end := closing(tokens, i+1) // WITH t(a, b) AS (SELECT ...)
	return end+2 < len(tokens) && tokens[end+1].is("AS") && tokens[end+2].kind == '('
}

// clauseWords are what a bracket may follow in the canonical form of a reading statement.
func clauseWords() []string {
	return []string{
		"ALL", "AND", "ANY", "ARRAY", "AS", "ASC", "BETWEEN", "BY", "COLUMNS", "DESC", "DISTINCT", "DIV", "ELSE", "EXCEPT",
		"EXISTS", "FILL", "FROM", "HAVING", "ILIKE", "IN", "INTERPOLATE", "INTERSECT", "IS", "JOIN", "LIKE", "LIMIT", "MOD",
		"NOT", "OFFSET", "ON", "OR", "OVER", "PREWHERE", "QUALIFY", "REGEXP", "REPLACE", "SAMPLE", "SELECT", "SETS",
		"STALENESS", "STEP", "TABLE", "THEN", "TO", "UNION", "USING", "WHEN", "WHERE", "WITH", "XOR",
	}
}

// checkNames refuses databases and functions of the server itself, which the grants of a session
// reader do not keep a model from. It looks at every name: a database is named in many ways.
func (g Guard) checkNames(source string, tokens []token) error {
	if !g.Guest {
		return nil
	}
	for _, t := range tokens {
		name := strings.ToLower(t.text)
		switch {
		case t.kind == '{':
			return errors.New("query parameters in braces cannot be used here")
		case t.kind == 'q' && strings.Contains(source[t.start:t.end], `\`):
			return errors.New("names with a backslash cannot be used here")
		case !t.isName():
		case name == "system", name == "information_schema", isName(name, nameServer, nameOutward), slices.Contains(g.Own, name):
			return fmt.Errorf("the name %q cannot be used here: only the session's own rows can be read", t.text)
		}
	}
	return nil
}
