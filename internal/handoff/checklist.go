package handoff

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// The tools whose arguments a handoff reads.
const (
	setState  = "set_state"  // one of the engine's own
	writeFile = "write_file" // a built-in one
)

var (
	checkItem    = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+\[([ xX!])\]\s+(\S.*)$`)
	blockedItem  = regexp.MustCompile(`(?i)^[*_~\[(]*(?:blocked|blocker|blocking)\b|[[(]blocked\b|\bblocked\s+(?:by|on)\b|^[^\s\w]*[⛔🚫]`)
	decisionLine = regexp.MustCompile(`(?i)^\s*(?:[-*+>]\s+)*\**decision\**\s*:\s*\**\s*(\S.*)$`)
)

type checked struct {
	text   string
	done   bool
	blocks bool // it is marked so: "- [!] item", or its words say that it is blocked
}

func checklistIn(text string) []checked {
	var out []checked
	for l := range strings.SplitSeq(text, "\n") {
		if !strings.Contains(l, "] ") {
			continue // quicker than the expression
		}
		if m := checkItem.FindStringSubmatch(l); m != nil {
			done := m[1] == "x" || m[1] == "X"
			blocks := !done && (m[1] == "!" || blockedItem.MatchString(m[2]))
			out = append(out, checked{text: excerpt.Line(m[2], widest.item), done: done, blocks: blocks})
		}
	}
	return out
}

// decisionsIn returns what the lines of a text say that begin with "Decision:".
func decisionsIn(text string) []string {
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		if !strings.Contains(l, "ecision") && !strings.Contains(l, "ECISION") {
			continue // quicker than the expression
		}
		if m := decisionLine.FindStringSubmatch(l); m != nil {
			out = append(out, strings.TrimRight(m[1], " \t\r*"))
		}
	}
	return out
}

// checklists are the newest checklists by place: a phase's answers, a value of the state, a file.
type checklists struct {
	order  []string            // by their newest versions, the newest last
	latest map[string][]string // the texts that they are in
	last   string              // the place that is right where several have an item; "": the newest is
}

func (c *checklists) set(place string, texts ...string) {
	if c.latest == nil {
		c.latest = map[string][]string{}
	}
	c.order = append(slices.DeleteFunc(c.order, func(p string) bool { return p == place }), place)
	c.latest[place] = texts
}

func (c *checklists) add(place, text string) { c.set(place, append(c.latest[place], text)...) }

// merged returns every item once, in the order of first appearance, as the newest list has it.
func (c *checklists) merged() []checked {
	var out []checked
	at := map[string]int{}
	for _, place := range append(slices.Clip(c.order), c.last) {
		for _, it := range checklistIn(strings.Join(c.latest[place], "")) {
			key := strings.ToLower(it.text)
			if i, ok := at[key]; ok {
				out[i].done, out[i].blocks = it.done, it.blocks
				continue
			}
			at[key] = len(out)
			out = append(out, it)
		}
	}
	return out
}

// readHistory reads what models have answered in a phase, and what their calls have done: that is done also where a person has
// taken the answer back.
func (g *gathered) readHistory(phase string, history []*echo.Entry, gone map[*echo.Entry]bool) {
	for i, e := range history {
		m := e.Message
		if m.Role() != echo.RoleAssistant {
			continue
		}
		if !gone[e] {
			g.readAnswer(phase, m.Text())
		}
		for _, c := range wellDone(m.ToolCalls(), history[i+1:]) {
			g.readCall(c)
		}
	}
}

func (g *gathered) readAnswer(phase, text string) {
	if len(checklistIn(text)) > 0 {
		g.lists.set("answers of "+phase, text)
	}
	if hasSection(text, blockerTitle) {
		g.blockers.set(sourceAnswer, text)
	}
	for _, d := range append(decisionsIn(text), sectionsIn(text, choiceTitle)...) {
		g.decisions = append(g.decisions, echo.HandoffItem{Source: sourceAnswer, Text: d})
	}
}

func (g *gathered) readChecklists() {
	for _, it := range g.lists.merged() {
		g.progress.Items++
		item := echo.HandoffItem{Source: sourceChecklist, Text: it.text}
		if it.done {
			g.progress.Checked++
			g.done = append(g.done, item)
			continue
		}
		g.remaining = append(g.remaining, item)
		if it.blocks {
			g.blocking = append(g.blocking, item)
		}
	}
}

// readSections takes what the newest texts have below the headings of blockers and, but for
// answers, of decisions.
func (g *gathered) readSections() {
	for _, place := range g.blockers.order {
		text := strings.Join(g.blockers.latest[place], "")
		for _, b := range sectionsIn(text, blockerTitle) {
			g.blocking = append(g.blocking, echo.HandoffItem{Source: place, Text: b})
		}
		if place == sourceAnswer {
			continue
		}
		for _, d := range sectionsIn(text, choiceTitle) {
			g.decisions = append(g.decisions, echo.HandoffItem{Source: place, Text: d})
		}
	}
}

// once returns items without those that say again what a later one says.
func once(items []echo.HandoffItem) []echo.HandoffItem {
	seen := map[string]bool{}
	var out []echo.HandoffItem
	for _, it := range slices.Backward(items) {
		if words := wordsOf(it.Text); !seen[words] {
			seen[words] = true
			out = append(out, it)
		}
	}
	slices.Reverse(out)
	return out
}

// wordsOf returns what two texts have in common that say the same, however they are marked.
func wordsOf(text string) string {
	if m := decisionLine.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	text = strings.NewReplacer("*", "", "_", "", "`", "", `"`, "").Replace(strings.ToLower(text))
	return strings.TrimRight(strings.Join(strings.Fields(text), " "), ".!;, ")
}

// withoutDecisions returns a text without its lines that are decisions.
func withoutDecisions(text string) string {
	kept := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return decisionLine.MatchString(l) })
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

func (g *gathered) readCall(c echo.ToolCall) {
	var in struct {
		Key, Path, Content string
		Value              any
		Append             bool
	}
	if c.Name != setState && c.Name != writeFile || json.Unmarshal([]byte(c.Arguments), &in) != nil {
		return
	}
	if c.Name == setState {
		g.lists.set(sourceState+in.Key, echo.AsText(in.Value))
		g.blockers.set(sourceState+in.Key, echo.AsText(in.Value))
		return
	}
	g.written = append(slices.DeleteFunc(g.written, func(p string) bool { return p == in.Path }), in.Path)
	place := "file " + in.Path
	if in.Append {
		g.lists.add(place, in.Content)
		g.blockers.add(place, in.Content)
	} else {
		g.lists.set(place, in.Content)
		g.blockers.set(place, in.Content)
	}
}

// wellDone returns the calls of an answer that succeeded, by the history that follows it.
func wellDone(calls []echo.ToolCall, follows []*echo.Entry) []echo.ToolCall {
	well := map[string]bool{}
	for _, e := range follows {
		if e.Message.Role() != echo.RoleTool {
			break
		}
		well[e.Message.ToolCallID()] = !e.Message.Failed()
	}
	return slices.DeleteFunc(slices.Clone(calls), func(c echo.ToolCall) bool { return !well[c.ID] })
}
