package cascade

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/windlass-run/windlass/cascade/files"
	"github.com/windlass-run/windlass/cascade/wording"
	"github.com/windlass-run/windlass/internal/source"
)

// textFile matches a template that is the text of a file: @prompts/review.j2.
var textFile = regexp.MustCompile(`^@[^\s{}@]+$`)

// includeTexts puts the text of a file where a template names one. What is found in such a text is
// reported there.
func (k *checker) includeTexts(t *files.Texts) {
	if k.known.Recorded {
		return // its cascade has the texts
	}
	include := func(at place, text *string) {
		if textFile.MatchString(*text) && at.Sound() && at.Node() != nil && !at.Document().Full() {
			k.includeText(t, at, text)
		}
	}
	for _, p := range locatePhases(k.root.Key("phases"), k.cascade.Phases) {
		include(p.at.Key("instructions"), &p.Instructions)
		include(p.at.Keys("rules", "turn_prompt"), &p.Rules.TurnPrompt)
		include(p.at.Keys("rules", "retry_instructions"), &p.Rules.RetryInstructions)
		for at, text := range textsOfSoundings(p.Soundings, p.at) {
			include(at, text)
		}
	}
	for at, text := range textsOfSoundings(k.cascade.Soundings, k.root) {
		include(at, text)
	}
	for name, v := range k.cascade.Validators {
		include(k.root.Keys("validators", name, "instructions"), &v.Instructions)
		k.cascade.Validators[name] = v
	}
}

func (k *checker) includeText(t *files.Texts, at place, text *string) {
	name := strings.TrimPrefix(*text, "@")
	path, data, err := t.Read(name)
	if err != nil {
		hint := "write the text itself"
		if t != nil {
			hint = fmt.Sprintf("it is looked for in %s", strings.Join(t.Folders, " and "))
		}
		at.Error(CodeUnknownFile, fmt.Sprintf("%s is the text of the file %q, which cannot be read: %v", describe(at), name, err), hint)
		return
	}
	file := source.Text(path, data)
	doc := at.Document().Attach(file, wording.Words{Title: describe(at)})
	if file.Root != nil {
		*text = file.Root.Text
		k.templates.files[at.Pointer()] = doc.Root()
	}
}
