package inspector_test

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/figures"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

var (
	tag   = regexp.MustCompile(`<[^>]*>`)
	links = regexp.MustCompile(`href="(/sessions/[^"]*)"`)
)

// plain returns what a page says, with single blanks.
func plain(page string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(page, " "))), " ")
}

// follow opens every link of a page that stays in the session.
func follow(t *testing.T, b *inspectortest.Browser, page string) {
	t.Helper()
	for _, m := range links.FindAllStringSubmatch(page, -1) {
		address, _, _ := strings.Cut(html.UnescapeString(m[1]), "#")
		if !strings.HasSuffix(address, "/bill") { // there may be nothing to replay
			b.Open(address)
		}
	}
}

// TestCandidates: the screens have the figures of windlass soundings, and each of their links leads somewhere.
func TestCandidates(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	inspectortest.Write(t, home, "made", inspectortest.Sounded("m")...)
	b := inspectortest.New(t, home, nil)
	require.Contains(t, b.Open("/sessions/made"), `<a href="/sessions/made/candidates">Candidates</a>`)
	list := b.Open("/sessions/made/candidates")
	require.Contains(t, plain(list), "draft 5 1 4 candidates (1 failed, 1 rejected), 2 kept by votes, 1 step of refinement: candidate 1 of step 1 kept by m, judging $3.50 1 of 2 pairs (50.0 %) $0.9375")
	follow(t, b, list)
	page := b.Open("/sessions/made/candidates/draft")
	follow(t, b, page)

	_, entries, err := (&archive.Archive{Home: home}).Entries(context.Background(), "made")
	require.NoError(t, err)
	r, err := inspect.New("made", entries)
	require.NoError(t, err)
	all, err := r.Soundings("draft")
	require.NoError(t, err)
	require.Len(t, all[0].Steps, 2)
	text := plain(page)
	for i := range all[0].Steps {
		st := &all[0].Steps[i]
		require.Contains(t, text, "Kept "+st.Why())
		for j := range st.Judges {
			judge := &st.Judges[j]
			flipped := ""
			if judge.Pairs > 0 {
				flipped = fmt.Sprintf(" %d of %s (%s)", judge.Flips, quantity.Of(judge.Pairs, "pair"), quantity.Share(judge.FlipRate(), 1))
			}
			require.Contains(t, text, fmt.Sprintf("m %d%s %d %d %s", judge.Ballots, flipped, judge.Ties, judge.Problems, quantity.USD(*judge.CostUSD)))
		}
		for j := range st.Candidates {
			c := &st.Candidates[j]
			require.Contains(t, page, `id="c`+map[int]string{0: "", 1: "1."}[st.Step]+fmt.Sprint(c.Number)+`"`)
			require.Contains(t, text, quantity.USD(*c.CostUSD))
		}
	}
	require.Contains(t, text, "1 m 1 2 2 2 2 12 of 10 m $1.00", "a pair with its evidence")
	require.Contains(t, text, "2 m 1 2 1 2 none: flipped m $1.00")
	require.Contains(t, text, "3 m 1 2 tie no verdict none m $1.00")
	require.Contains(t, text, "named by 3 of 6 ballots")
	require.Contains(t, text, "8.5 of 10")
	require.Contains(t, text, "Candidate 3 is not drawn: it was not judged.")
	require.Contains(t, page, `aria-label="Quality against cost: candidate 1: quality 0.25, $0.2500; candidate 2: quality 0.75, $0.5000"`)
	require.Contains(t, text, "Budget no candidate was added, as the budget does not cover one more and its judging: $2.00 by the estimate, and $1.00 is left")

	requests := b.Open("/sessions/made/calls?phase=draft%2Fsounding1")
	require.NotContains(t, requests, "sounding2")
	require.NotContains(t, b.Open("/sessions/"+inspectortest.Copy(t, home, frozen+"/rules7/rules7_values.jsonl")), "/candidates")
}

// TestCandidatesThatWait: candidates among which a person is to choose, of a frozen session.
func TestCandidatesThatWait(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	base := "/sessions/" + inspectortest.Copy(t, home, frozen+"/waiting/rules5_more.jsonl")
	b := inspectortest.New(t, home, nil)
	list := b.Open(base + "/candidates")
	require.Contains(t, list, "a person is to choose: windlass answer ")
	follow(t, b, list)
}

// TestCandidatesOfOthers: candidates of a whole cascade lead to their sessions, those of an element of a list to their part of the run.
func TestCandidatesOfOthers(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	inspectortest.Write(t, home, "child", inspectortest.Conversation("m")...)
	whole, item := echo.RunKey().Numbered(echo.StepSounding, 1), echo.PhaseKey("each", 1).Numbered(echo.StepItem, 3).Numbered(echo.StepSounding, 1)
	inspectortest.Write(
		t, home, "made", echo.NewEntry(whole.Step(echo.StepCandidate), echo.Candidate{Factor: 2}),
		echo.NewEntry(echo.RunKey().Numbered(echo.StepSounding, 2).Step(echo.StepCandidate), echo.Candidate{Index: 1, Factor: 2}),
		&echo.Entry{NodeType: echo.NodeChildStart, Key: whole.Step(echo.StepCandidate), Data: echo.NewEntry(whole, echo.ChildStart{Session: "child"}).Data},
		echo.NewEntry(echo.PhaseKey("each", 1).Step(echo.StepStart), echo.PhaseStart{Visit: 1}),
		echo.NewEntry(item.Step(echo.StepCandidate), echo.Candidate{Factor: 2}),
	)
	b := inspectortest.New(t, home, nil)
	list := b.Open("/sessions/made/candidates")
	follow(t, b, list)
	require.Contains(t, plain(list), "the whole cascade 2 0 no choice was made yet")
	page := b.Open("/sessions/made/candidates/run")
	require.Contains(t, page, `<a href="/sessions/child" aria-label="The session of candidate 1">session</a>`)
	require.Contains(t, page, "Candidates of the whole cascade")
	follow(t, b, page)
	page = b.Open("/sessions/made/candidates/each/item3")
	require.Contains(t, page, `href="/sessions/made?part=each%2Fitem3%2Fsounding1"`)
	follow(t, b, page)
}

// TestAnswers: the answers of two candidates are compared as a whole: what has no room on a page is on the next.
func TestAnswers(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	entries := inspectortest.Sounded("m")
	var first, other []string
	for i := range 1900 {
		first, other = append(first, fmt.Sprintf("line %d", i)), append(other, fmt.Sprintf("line %d", i))
		if i%17 == 0 {
			other[i] = fmt.Sprintf("other %d", i)
		}
	}
	first[1800], other[1800] = strings.Repeat("a long line ", 5000)+"one end", strings.Repeat("a long line ", 5000)+"another end"
	say(t, entries, "draft/sounding1/finish", strings.Join(first, "\n"))
	say(t, entries, "draft/sounding2/finish", strings.Join(other, "\n"))
	say(t, entries, "draft/sounding3/finish", map[string]any{"title": "A", "body": strings.Repeat("b", 20)})
	inspectortest.Write(t, home, "made", entries...)
	b := inspectortest.New(t, home, nil)
	base := "/sessions/made/candidates/draft"
	page := b.Open(base + "?a=1&b=2")
	_, said, _ := strings.Cut(plain(page), "Candidate 1 against")
	require.Contains(t, said[:200], "Lines, of long ones sentences, only of candidate 1 (-): 113; only of candidate 2 (+): 113. Page 1; nothing that differs is left out.")
	require.Contains(t, page, "lines the same")
	follow(t, b, page)
	links := pageLink.FindAllStringSubmatch(page, -1)
	pages, err := strconv.Atoi(links[len(links)-1][1])
	require.NoError(t, err)
	require.Greater(t, pages, 2)
	var removed, added []string
	for i := range pages {
		text := b.Open(fmt.Sprintf("%s?a=1&b=2&page=%d", base, i+1))
		require.Less(t, len(text), 250_000)
		removed = append(removed, lines(text, "del")...)
		added = append(added, lines(text, "ins")...)
	}
	for i := range first {
		if first[i] != other[i] && i != 1800 {
			require.Contains(t, removed, first[i])
			require.Contains(t, added, other[i])
		}
	}
	require.Contains(t, strings.Join(removed, ""), first[1800])
	require.Contains(t, strings.Join(added, ""), other[1800])

	// A paragraph is compared by its sentences.
	const paragraph = "We are sorry for what happened on Monday. The tracking page showed parcels of others. No payment data were shown! %s It is mended; nothing else is left to do."
	say(t, entries, "draft/sounding1/finish", fmt.Sprintf(paragraph, "We call you."))
	say(t, entries, "draft/sounding2/finish", fmt.Sprintf(paragraph, "We write to you."))
	inspectortest.Write(t, home, "letters", entries...)
	page = b.Open("/sessions/letters/candidates/draft?a=1&b=2")
	require.Equal(t, []string{"We call you. "}, lines(page, "del"))
	require.Equal(t, []string{"We write to you. "}, lines(page, "ins"))
	require.Contains(t, page, `<span class="sign">-… </span>We call you. `)

	require.Contains(t, b.Open(base+"?a=2"), other[1800], "one answer, whole")
	require.Contains(t, html.UnescapeString(b.Open(base+"?a=3")), "{\n  \"body\": \"bbbbbbbbbbbbbbbbbbbb\",\n  \"title\": \"A\"\n}")
	require.Contains(t, b.Open(base+"?a=4"), "It has no answer.")
	require.Contains(t, b.Open(base+"?a=4&b=1.1"), "only of candidate 1.1 (+)")
}

var pageLink = regexp.MustCompile(`&amp;page=(\d+)`)

// TestManyBallots: a page of many ballots has a bounded size.
func TestManyBallots(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	entries := inspectortest.Sounded("m")
	for i := range 1000 {
		entries = append(entries, echo.NewEntry(echo.PhaseKey("draft", 1).Numbered(echo.StepBallot, i+7), echo.Ballot{Pair: 4 + i/2, Reverse: i%2 == 1, Judge: "m", Order: []int{1, 2}, Said: "tie", Why: strings.Repeat("because ", 1000)}))
	}
	inspectortest.Write(t, home, "made", entries...)
	page := inspectortest.New(t, home, nil).Open("/sessions/made/candidates/draft")
	require.Contains(t, page, "303 more pairs are not listed: <code>windlass soundings made</code> has them.")
	require.Contains(t, plain(page), "m 1006 1 of 502 pairs (0.2 %)", "they are in the figures")
	require.Less(t, len(page), 600_000)
}

// say has a candidate answer something else.
func say(t *testing.T, entries []*echo.Entry, key string, output any) {
	t.Helper()
	for i, e := range entries {
		if e.Key.String() == key {
			entries[i] = echo.NewEntry(e.Key, echo.PhaseEnd{Status: echo.StatusCompleted, Turns: 1, Output: output})
			return
		}
	}
	require.Fail(t, "no such entry", key)
}

// lines are those of a comparison with a tag, without their signs.
func lines(page, tag string) (out []string) {
	for _, m := range regexp.MustCompile(`(?s)<`+tag+`><span class="sign">.*?</span>(.*?)</`+tag+`>`).FindAllStringSubmatch(page, -1) {
		out = append(out, html.UnescapeString(m[1]))
	}
	return out
}

// TestCandidateAddresses: what an address asks for in vain is told in words.
func TestCandidateAddresses(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	inspectortest.Write(t, home, "made", inspectortest.Sounded("m")...)
	session := inspectortest.Copy(t, home, frozen+"/rules7/rules7_values.jsonl")
	b := inspectortest.New(t, home, nil)
	for _, x := range []struct {
		address string
		status  int
		text    string
	}{
		{"/sessions/none/candidates", http.StatusNotFound, "none"},
		{"/sessions/made/candidates/nowhere", http.StatusNotFound, `Session made has no candidates of "nowhere". The list has those that it has: /sessions/made/candidates`},
		{"/sessions/made/candidates/..%2f..", http.StatusNotFound, "has no candidates of"},
		{"/sessions/made/candidates/draft?a=9", http.StatusNotFound, `There is no candidate "9" of draft. There are 1, 2, 3, 4, 1.1.`},
		{"/sessions/made/candidates/draft?a=1&b=2.1", http.StatusNotFound, `There is no candidate "2.1" of draft.`},
		{"/sessions/made/candidates/draft?a=1&b=1", http.StatusUnprocessableEntity, "Candidate 1 cannot be compared with itself: choose two different ones."},
		{"/sessions/made/candidates/draft?a=1&b=2&page=7", http.StatusNotFound, "This comparison has 1 page."},
		{"/sessions/made/candidates/draft?a=1&b=2&page=x", http.StatusNotFound, "This comparison has 1 page."},
		{"/sessions/" + session + "/candidates", http.StatusOK, "No phase of this session was tried several times."},
		{"/sessions/" + session + "/selections", http.StatusOK, "Nothing was selected for a phase of this session."},
	} {
		w := b.Ask(http.MethodGet, x.address, nil)
		require.Equal(t, x.status, w.Code, "%s: %s", x.address, w.Body)
		require.Contains(t, plain(w.Body.String()), x.text, x.address)
	}
}

// TestHostileCandidates: whatever a model, a judge or a person has said, the screens of candidates show it as text.
func TestHostileCandidates(t *testing.T) {
	t.Parallel()
	for _, text := range inspectortest.Hostile() {
		home := t.TempDir()
		text = strings.ToValidUTF8(text, "\uFFFD") // as a record has it
		inspectortest.Write(t, home, "hostile", inspectortest.Sounded(text)...)
		b := inspectortest.New(t, home, nil)
		for _, address := range []string{"", "/draft", "/draft?a=1&b=2", "/draft?a=4", "/draft?a=1.1"} {
			inspectortest.Harmless(t, address, b.Open("/sessions/hostile/candidates"+address))
		}
	}
}

// TestSQLOfScreens: the SQL of every screen of a session runs in ClickHouse, and has the flips of the judges as the view of all has them.
func TestSQLOfScreens(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	home := t.TempDir()
	inspectortest.Write(t, home, "made", inspectortest.Sounded("m")...)
	inspectortest.Write(t, home, "selected", inspectortest.Selected("m")...)
	for _, session := range []string{"made", "selected"} {
		_, entries, err := (&archive.Archive{Home: home}).Entries(context.Background(), session)
		require.NoError(t, err)
		require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
	}
	b := inspectortest.New(t, home, nil)
	statement := regexp.MustCompile(`(?s)<pre class="code" data-copied tabindex="0">(SELECT.*?)</pre>`)
	rows := func(address string) (out [][]map[string]any) {
		for _, m := range statement.FindAllStringSubmatch(b.Open(address), -1) {
			found, err := figures.Rows[map[string]any](t.Context(), db, html.UnescapeString(m[1]))
			require.NoError(t, err, "%s: %s", address, m[1])
			out = append(out, found)
		}
		require.NotEmpty(t, out, address)
		return out
	}
	for _, address := range []string{"", "/matrix", "/calls", "/bill", "/calls/1", "/selections"} {
		rows("/sessions/selected" + address)
	}
	require.Len(t, rows("/sessions/made/candidates")[0], 5)
	found := rows("/sessions/made/candidates/draft")
	require.Len(t, found, 3)
	require.Len(t, found[0], 5, "candidates")
	require.Len(t, found[1], 7, "ballots and scores")
	require.Len(t, found[2], 1, "judges of pairs")
	of, err := figures.Rows[struct {
		Pairs, Flips uint64
		FlipRate     float64 `json:"flip_rate"`
	}](t.Context(), db, "SELECT pairs, flips, flip_rate FROM judges WHERE judge = 'm'")
	require.NoError(t, err)
	require.EqualValues(t, of[0].Pairs, found[2][0]["pairs"])
	require.EqualValues(t, of[0].Flips, found[2][0]["flips"])
	require.InDelta(t, of[0].FlipRate, found[2][0]["flip_rate"], 1e-9)
	require.InDelta(t, 0.5, of[0].FlipRate, 1e-9)

	require.Len(t, rows("/sessions/selected/selections/tell/select")[0], 2, "one chosen, one anchor")
}
