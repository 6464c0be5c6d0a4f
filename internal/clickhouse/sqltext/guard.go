package sqltext

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Guard says what a statement may do that a person or a model wrote. It is the second wall, after
// the server's grants, which do not hold everywhere: the embedded engine lets every user call
// file(), and SETTINGS in a subquery change what the user may not change.
//
// It judges the canonical form that the server's own parser writes, in which quotes, escapes and
// comments hide nothing.
type Guard struct {
	Write    bool     // the statement may change data
	Embedded bool     // the engine is windlass's own; what Write reaches of a server is the server's to grant
	Guest    bool     // a model wrote it
	Own      []string // of a guest: functions that were added to the server, in lower case
	Settable []string // the settings that a statement that only reads may set
}

// A RefusedError is returned for a statement that windlass does not hand to the server.
type RefusedError struct {
	What string // such as "the function file()"
	Why  string
	// Liftable says that [QueryOptions].Write lets the statement through.
	Liftable bool
}

func (e *RefusedError) Error() string { return e.What + " " + e.Why }

// outward refuses what reaches out of the database. With Write a server decides about it itself.
func (g Guard) outward(what string) error {
	return &RefusedError{
		What: what, Why: "cannot be used here: it reaches files, programs or other servers",
		Liftable: !g.Write && !g.Guest && !g.Embedded,
	}
}

// ReadonlyError is returned for a statement that does more than read.
type ReadonlyError string

func (e ReadonlyError) Error() string { return string(e) }

// Check refuses what the guard does not allow; canonical asks the server for the canonical form.
func (g Guard) Check(st Statement, canonical func(sql string) (string, error)) error {
	if err := checkClientClauses(st.tokens); err != nil || g.Write && !g.Embedded {
		return err
	}
	text, err := canonical(st.SQL)
	if err != nil {
		return err
	}
	tokens := tokenize(text)
	if len(tokens) == 0 {
		return ErrEmpty
	}
	if err := g.judge(text, tokens); err != nil {
		return err
	}
	if n := len(tokens); g.Write && n > 2 && tokens[n-2].is("FORMAT") && tokens[n-1].is("Values") {
		// The server evaluates expressions in the data, which the canonical form leaves out.
		return g.checkCalls(st.source, st.tokens)
	}
	return nil
}

func (g Guard) judge(text string, tokens []token) error {
	for _, check := range []func(string, []token) error{g.checkKind, g.checkCalls, g.checkClauses, g.checkNames} {
		if err := check(text, tokens); err != nil {
			return err
		}
	}
	return nil
}

func readingStatements() []string {
	return []string{"SELECT", "WITH", "SHOW", "DESCRIBE", "EXPLAIN", "EXISTS", "CHECK"}
}

func (g Guard) checkKind(_ string, tokens []token) error {
	first := strings.ToUpper(tokens[0].text)
	if tokens[0].kind == '(' {
		first = "SELECT"
	}
	switch reads := slices.Contains(readingStatements(), first); {
	case g.Write:
		return g.checkChange(tokens)
	case g.Guest && !reads:
		return errors.New("only queries that read are allowed here, such as SELECT")
	case !reads:
		return ReadonlyError(first + " is no statement that only reads")
	}
	return nil
}

// outwardStatements reach files, servers or other users, or make what does, by first words.
func outwardStatements() []string {
	return []string{
		"BACKUP", "RESTORE", "EXECUTE", "CREATE DICTIONARY", "REPLACE DICTIONARY", "ATTACH DICTIONARY",
		"CREATE FUNCTION", "CREATE NAMED COLLECTION", "ALTER NAMED COLLECTION",
	}
}

// systemStatements are what a person may do to the embedded engine, by the words after SYSTEM.
func systemStatements() []string {
	return []string{
		"STOP MERGES", "START MERGES", "STOP TTL", "START TTL", "STOP MOVES", "START MOVES", "FLUSH", "CLEAR", "PREWARM",
		"START VIEW", "STOP VIEW", "START VIEWS", "STOP VIEWS", "REFRESH VIEW", "CANCEL VIEW", "WAIT VIEW", "SYNC", "LOAD",
		"UNLOAD",
	}
}

// checkChange refuses to change what is not in the tables of the embedded engine.
func (g Guard) checkChange(tokens []token) error {
	var words []string
	for i, t := range tokens {
		if t.kind != 'w' {
			break
		}
		if t.is("OR") || t.is("TEMPORARY") || i > 0 && t.is("REPLACE") {
			continue
		}
		words = append(words, strings.ToUpper(t.text))
	}
	head := strings.Join(words, " ") + " "
	begins := func(with []string, head string) bool {
		return slices.ContainsFunc(with, func(s string) bool { return strings.HasPrefix(head, s+" ") })
	}
	if begins(outwardStatements(), head) {
		return g.outward(words[0] + " " + strings.Join(words[1:min(len(words), 2)], ""))
	}
	if rest, ok := strings.CutPrefix(head, "SYSTEM "); ok && !begins(systemStatements(), rest) {
		return &RefusedError{What: strings.TrimSpace(head), Why: "cannot be used here: the engine is run by windlass"}
	}
	for i, t := range tokens[1:] {
		if tokens[0].is("ATTACH") && tokens[i].is("FROM") && t.kind == 's' {
			return g.outward("ATTACH ... FROM")
		}
	}
	return nil
}

func checkClientClauses(tokens []token) error {
	for i := 2; i < len(tokens); i++ {
		for _, c := range [][2]string{{"INTO", "OUTFILE"}, {"FROM", "INFILE"}} {
			if tokens[i].kind == 's' && tokens[i-1].is(c[1]) && tokens[i-2].is(c[0]) {
				return &RefusedError{What: c[0] + " " + c[1], Why: "cannot be used here: use standard output and standard input"}
			}
		}
	}
	return nil
}

func (g Guard) checkClauses(_ string, tokens []token) error {
	if err := checkClientClauses(tokens); err != nil {
		return err
	}
	for i, t := range tokens[:len(tokens)-1] {
		rest := tokens[i:]
		switch {
		case t.kind != 'w':
		case t.is("PARALLEL") && rest[1].is("WITH"):
			return fmt.Errorf("PARALLEL WITH: %w", ErrMany)
		case g.Write && t.is("ENGINE") && rest[1].kind == '=' && len(rest) > 2 && !isName(rest[2].text, nameEngine):
			return g.outward("the engine " + rest[2].text)
		case t.text == "SETTINGS":
			if err := g.checkSettings(settingNames(rest)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSettings looks at SETTINGS anywhere: the server checks only those of the whole statement.
func (g Guard) checkSettings(names []string) error {
	for _, name := range names {
		lower := strings.ToLower(name)
		switch {
		case g.Guest:
			return &RefusedError{What: "SETTINGS", Why: "cannot be used here: the limits of a query are fixed"}
		case g.Write && (strings.HasPrefix(lower, "format_schema") || strings.HasPrefix(lower, "format_template_")):
			return g.outward("the setting " + name)
		case !g.Write && !slices.Contains(g.Settable, name):
			return ReadonlyError("the setting " + name + " cannot be changed by a query that may only read")
		}
	}
	return nil
}

func settingNames(tokens []token) []string {
	var names []string
	for i := 1; i+1 < len(tokens) && tokens[i].isName(); i++ {
		name := tokens[i].text
		for i+2 < len(tokens) && tokens[i+1].kind == '.' { // a compound name
			name += "." + tokens[i+2].text
			i += 2
		}
		if i+1 >= len(tokens) || tokens[i+1].kind != '=' {
			break
		}
		names = append(names, name)
		if i = valueEnd(tokens, i+2); i >= len(tokens) || tokens[i].kind != ',' {
			break
		}
	}
	return names
}

// valueEnd returns the index after the value of a setting at i: a literal, a map or a call.
func valueEnd(tokens []token, i int) int {
	for i < len(tokens) && slices.Contains([]byte{'-', '+'}, tokens[i].kind) {
		i++
	}
	i++
	for i+1 < len(tokens) && tokens[i].kind == '.' { // a number with a fraction
		i += 2
	}
	if i < len(tokens) && tokens[i].kind == '(' {
		return closing(tokens, i) + 1
	}
	if i-1 < len(tokens) && slices.Contains([]byte{'{', '['}, tokens[i-1].kind) {
		return closing(tokens, i-1) + 1
	}
	return i
}

// closing returns the index of the token that closes the bracket at i, or the number of tokens.
func closing(tokens []token, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch tokens[i].kind {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return i
}
