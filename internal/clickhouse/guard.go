package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// guard says what a statement may do that a person or a model wrote. It is the second wall: the first is what the server
// grants to the user that runs the statement. Grants do not stand before everything: the embedded engine lets every user
// read any file by the function file(), and SETTINGS in a subquery change settings that the user may not change.
//
// It judges what the server's own parser makes of the text, written out by the server in one canonical form. So quotes,
// escapes and comments hide nothing, and no name is missed because windlass reads SQL in another way than the server.
type guard struct {
	write    bool     // the statement may change data
	embedded bool     // the engine is windlass's own. What a statement that writes reaches of a server is the server's to grant
	guest    bool     // a model wrote it
	own      []string // of a guest: functions that were added to the server, in lower case
}

// A RefusedError is returned for a statement that windlass does not hand to the server.
type RefusedError struct {
	What string // such as "the function file()"
	Why  string
	// Liftable says that [QueryOptions].Write lets the statement through.
	Liftable bool
}

func (e *RefusedError) Error() string { return e.What + " " + e.Why }

// outward refuses what reaches out of the database. What a statement with Write reaches of a server is the server's to
// grant.
func (g guard) outward(what string) error {
	return &RefusedError{
		What: what, Why: "cannot be used here: it reaches files, programs or other servers",
		Liftable: !g.write && !g.guest && !g.embedded,
	}
}

func readonlyError(message string) error {
	return &SQLError{Code: codeReadonly, Name: "READONLY", Message: message}
}

// check refuses a statement that the guard does not allow.
func (g guard) check(ctx context.Context, conn driver.Conn, st statement) error {
	if err := checkClientClauses(st.tokens); err != nil || g.write && !g.embedded {
		return err
	}
	text, err := canonical(ctx, conn, st.sql)
	if err != nil {
		return err
	}
	tokens := tokenize(text)
	if len(tokens) == 0 {
		return ErrEmptyQuery
	}
	if err := g.judge(text, tokens); err != nil {
		return err
	}
	if n := len(tokens); g.write && n > 2 && tokens[n-2].is("FORMAT") && tokens[n-1].is("Values") {
		// The server evaluates expressions in the data, which the canonical form leaves out.
		return g.checkCalls(st.source, st.tokens)
	}
	return nil
}

// maxQuerySize is how long a statement with data in it may be.
const maxQuerySize = 8 << 20

// canonical returns a statement as the server's parser understands it. Its errors are those of the statement.
func canonical(ctx context.Context, conn driver.Conn, sql string) (string, error) {
	checked := ctx
	if len(sql) > 64<<10 { // ClickHouse parses 256 KiB, and quoting can make it longer
		checked = driver.Context(ctx, driver.WithSettings(driver.Settings{"max_query_size": maxQuerySize}))
	}
	rows, err := conn.Query(checked, "SELECT formatQuerySingleLine("+quoteString(sql)+")")
	if err != nil {
		return "", parseError(ctx, err)
	}
	var text string
	for err == nil && rows.Next() {
		err = rows.Scan(&text)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return "", parseError(ctx, err)
	}
	return text, nil
}

// parseError takes from an error of the parser what speaks of the function that called it.
func parseError(ctx context.Context, err error) error {
	err = queryError(ctx, err)
	var se *SQLError
	if errors.As(err, &se) {
		se.Message, _, _ = strings.Cut(se.Message, ": In scope SELECT formatQuerySingleLine(")
		se.Message = strings.TrimSuffix(strings.TrimSpace(se.Message), ": .")
	}
	return err
}

// judge refuses a statement in its canonical form.
func (g guard) judge(text string, tokens []token) error {
	for _, check := range []func(string, []token) error{g.checkKind, g.checkCalls, g.checkClauses, g.checkNames} {
		if err := check(text, tokens); err != nil {
			return err
		}
	}
	return nil
}

// readingStatements are those that change nothing, by their first word.
func readingStatements() []string {
	return []string{"SELECT", "WITH", "SHOW", "DESCRIBE", "EXPLAIN", "EXISTS", "CHECK"}
}

// checkKind looks at which statement it is.
func (g guard) checkKind(_ string, tokens []token) error {
	first := strings.ToUpper(tokens[0].text)
	if tokens[0].kind == '(' {
		first = "SELECT"
	}
	switch reads := slices.Contains(readingStatements(), first); {
	case g.write:
		return g.checkChange(tokens)
	case g.guest && !reads:
		return errors.New("only queries that read are allowed here, such as SELECT")
	case !reads:
		return readonlyError(first + " is no statement that only reads")
	}
	return nil
}

// outwardStatements are those that write files, reach other servers or act as another user, and those that make
// something callable that does, by their first words.
func outwardStatements() []string {
	return []string{
		"BACKUP", "RESTORE", "EXECUTE", "CREATE DICTIONARY", "REPLACE DICTIONARY", "ATTACH DICTIONARY",
		"CREATE FUNCTION", "CREATE NAMED COLLECTION", "ALTER NAMED COLLECTION",
	}
}

// systemStatements are what a person may do to the embedded engine itself, by the words after SYSTEM.
func systemStatements() []string {
	return []string{
		"STOP MERGES", "START MERGES", "STOP TTL", "START TTL", "STOP MOVES", "START MOVES", "FLUSH", "CLEAR", "PREWARM",
		"START VIEW", "STOP VIEW", "START VIEWS", "STOP VIEWS", "REFRESH VIEW", "CANCEL VIEW", "WAIT VIEW", "SYNC", "LOAD",
		"UNLOAD",
	}
}

// checkChange refuses statements that change something outside of the tables of the embedded engine.
func (g guard) checkChange(tokens []token) error {
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
	if tokens[0].is("ATTACH") && slices.ContainsFunc(pairs(tokens), func(p pair) bool { return p.is("FROM", 's') }) {
		return g.outward("ATTACH ... FROM")
	}
	return nil
}

// pair is two tokens that follow each other.
type pair [2]token

func pairs(tokens []token) []pair {
	var ps []pair
	for i := 1; i < len(tokens); i++ {
		ps = append(ps, pair{tokens[i-1], tokens[i]})
	}
	return ps
}

func (p pair) is(word string, kind byte) bool { return p[0].is(word) && p[1].kind == kind }

// checkClientClauses refuses clauses that name files of the client, which windlass does not open for a statement.
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

// checkClauses refuses clauses that reach further than the statement may.
func (g guard) checkClauses(_ string, tokens []token) error {
	if err := checkClientClauses(tokens); err != nil {
		return err
	}
	for i, t := range tokens[:len(tokens)-1] {
		rest := tokens[i:]
		switch {
		case t.kind != 'w':
		case t.is("PARALLEL") && rest[1].is("WITH"):
			return fmt.Errorf("PARALLEL WITH: %w", ErrManyStatements)
		case g.write && t.is("ENGINE") && rest[1].kind == '=' && len(rest) > 2 && !isName(rest[2].text, nameEngine):
			return g.outward("the engine " + rest[2].text)
		case t.text == "SETTINGS":
			if err := g.checkSettings(settingNames(rest)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkSettings looks at the names that a SETTINGS clause sets, wherever it stands: the server checks only that of the
// whole statement.
func (g guard) checkSettings(names []string) error {
	for _, name := range names {
		lower := strings.ToLower(name)
		switch {
		case g.guest:
			return &RefusedError{What: "SETTINGS", Why: "cannot be used here: the limits of a query are fixed"}
		case g.write && (strings.HasPrefix(lower, "format_schema") || strings.HasPrefix(lower, "format_template_")):
			return g.outward("the setting " + name)
		case !g.write && !isReadonlySetting(name):
			return readonlyError("the setting " + name + " cannot be changed by a query that may only read")
		}
	}
	return nil
}

// settingNames returns the names that a SETTINGS clause at the beginning of tokens sets, none if it is something else.
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

// valueEnd returns the index after the value of a setting that begins at i: a literal, a map or a call.
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
