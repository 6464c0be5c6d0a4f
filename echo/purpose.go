package echo

// Purpose says what a model call was made for that is not the next answer of a conversation.
type Purpose string

// The purposes.
const (
	PurposeValidator Purpose = "validator" // to judge an answer
	PurposeSummary   Purpose = "summary"   // to sum older messages up
	PurposeRecount   Purpose = "recount"   // to have the provider count a request
	PurposeSelect    Purpose = "select"    // to choose what comes in of earlier phases
	PurposeCards     Purpose = "cards"     // to sum messages up for their cards, in the background
	PurposeEmbed     Purpose = "embed"     // to embed texts, in the background
	PurposeJudge     Purpose = "judge"     // to compare candidates, or to give one of them points
	PurposeAggregate Purpose = "aggregate" // to write one answer from those of all candidates
	PurposeRewrite   Purpose = "rewrite"   // to rewrite the instructions of a candidate
)

var purposes = map[StepKind]Purpose{
	StepValidate: PurposeValidator, StepCompact: PurposeSummary, StepRebuild: PurposeSummary, StepRecount: PurposeRecount, StepSelect: PurposeSelect,
	StepCall: PurposeCards, StepEmbed: PurposeEmbed,
	StepBallot: PurposeJudge, StepScore: PurposeJudge, StepAggregate: PurposeAggregate, StepRewrite: PurposeRewrite,
}

// Purpose returns what a model call was made for; "" for the next answer of a conversation.
func (k Key) Purpose() Purpose {
	p := k.Path()
	for _, s := range p.Effect {
		if s.Kind != StepWard { // at whose place something is done
			return purposes[s.Kind]
		}
	}
	return ""
}

// Validator returns the validator that something was done for; "" when it was done for none.
func (k Key) Validator() string {
	for _, s := range k.Path().Effect {
		if s.Kind == StepValidate {
			return s.Name
		}
	}
	return ""
}
