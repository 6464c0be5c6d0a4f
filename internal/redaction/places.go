package redaction

import "github.com/windlass-run/windlass/echo"

// Where the content is of a cascade and of what entries say: a list of what is taken out. What else
// there is stays. TestEveryMemberIsNamed has that list, with the reasons: a member in neither fails it.

var (
	aText    = &echo.ContentPlace{Is: echo.ContentText}
	aPattern = &echo.ContentPlace{Is: echo.ContentPattern}
	allData  = &echo.ContentPlace{Is: echo.ContentData}
	someData = &echo.ContentPlace{Is: echo.ContentGiven}
)

func object(members map[string]*echo.ContentPlace) *echo.ContentPlace {
	return &echo.ContentPlace{Members: members}
}

func listOf(p *echo.ContentPlace) *echo.ContentPlace {
	return object(map[string]*echo.ContentPlace{"*": p})
}

var (
	schemaPlace  = newSchemaPlace()
	inputsPlace  = &echo.ContentPlace{Is: echo.ContentInputs, Schema: schemaPlace, Members: map[string]*echo.ContentPlace{"*": aText}}
	cascadePlace = newCascadePlace()
	optionsPlace = object(map[string]*echo.ContentPlace{"state": allData, "trial": trialPlace}) // of a child: the rest is never masked, and has no content
	libraryPlace = object(map[string]*echo.ContentPlace{"cascades": listOf(object(map[string]*echo.ContentPlace{"cascade": cascadePlace}))})
)

func newSchemaPlace() *echo.ContentPlace {
	s := &echo.ContentPlace{}
	named := listOf(s)
	s.Members = map[string]*echo.ContentPlace{
		"title": aText, "description": aText, "$comment": aText, "default": someData, "examples": someData,
	}
	for _, key := range []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "prefixItems", "allOf", "anyOf", "oneOf"} {
		s.Members[key] = named
	}
	for _, key := range []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"} {
		s.Members[key] = s
	}
	return s
}

func newCascadePlace() *echo.ContentPlace {
	phase := &echo.ContentPlace{}
	tries := object(map[string]*echo.ContentPlace{
		"mutations": listOf(aText), "output_schema": schemaPlace, "evaluator_instructions": aPattern, "aggregator_instructions": aPattern,
		"reforge": object(map[string]*echo.ContentPlace{"honing_prompt": aText, "evaluator_override": aPattern}),
	})
	child := listOf(object(map[string]*echo.ContentPlace{"input_map": listOf(aPattern)}))
	phase.Members = map[string]*echo.ContentPlace{
		"instructions": aPattern, "inputs": {Is: echo.ContentGiven}, "output_schema": schemaPlace, "on_error": phase,
		"rules":    object(map[string]*echo.ContentPlace{"loop_until_prompt": aPattern, "retry_instructions": aPattern, "turn_prompt": aPattern}),
		"handoffs": listOf(object(map[string]*echo.ContentPlace{"description": aText})),
		"for_each": object(map[string]*echo.ContentPlace{"items": {Is: echo.ContentGiven}}), "sub_cascades": child, "async_cascades": child,
		"soundings": tries, "human_input": humanPlace(),
		"wait": object(map[string]*echo.ContentPlace{
			"signal": aPattern, "description": aPattern, "any": listOf(object(map[string]*echo.ContentPlace{"signal": aPattern, "ask": humanPlace()})),
		}),
		"decision_points": object(map[string]*echo.ContentPlace{"ui": allData}),
		"callouts":        object(map[string]*echo.ContentPlace{"output": aPattern, "messages": aPattern}),
		"context":         object(map[string]*echo.ContentPlace{"from": listOf(object(map[string]*echo.ContentPlace{"condition": aPattern}))}),
	}
	tool := object(map[string]*echo.ContentPlace{
		"description": aText, "inputs_schema": inputsPlace, "command": aPattern, "url": aPattern, "headers": listOf(aPattern), "body": aPattern,
	})
	return object(map[string]*echo.ContentPlace{
		"description": aText, "inputs_schema": inputsPlace, "tools": listOf(tool), "phases": listOf(phase), "soundings": tries,
		"triggers":   listOf(object(map[string]*echo.ContentPlace{"description": aText, "inputs": allData, "file": aText, "url": aText})),
		"validators": listOf(object(map[string]*echo.ContentPlace{"instructions": aPattern})),
	})
}

// contentOf returns the content of what an entry says, nil when all of it is structure.
func contentOf(e *echo.Entry) *echo.ContentPlace {
	if e.NodeType == echo.NodeValue {
		p := e.Key.Path()
		return valuePlaces[p.Last().Kind]
	}
	return dataPlaces[e.NodeType]
}

var selectedPlaces = map[string]*echo.ContentPlace{"why": aText, "notes": listOf(aText), "ignored": listOf(aText), "degraded": listOf(aText)}

var (
	mutationPlace  = object(map[string]*echo.ContentPlace{"entry": aText, "text": aText})
	candidatePlace = object(map[string]*echo.ContentPlace{"mutation": mutationPlace})
	trialPlace     = object(map[string]*echo.ContentPlace{"mutation": mutationPlace, "winners": listOf(aText)}) // in the header of a child
	standingsPlace = listOf(object(map[string]*echo.ContentPlace{"why": aText}))
)

var dataPlaces = map[echo.NodeType]*echo.ContentPlace{
	echo.NodePhaseEnd:   object(map[string]*echo.ContentPlace{"output": allData}),
	echo.NodeRunEnd:     object(map[string]*echo.ContentPlace{"output": allData}),
	echo.NodeState:      object(map[string]*echo.ContentPlace{"value": allData}),
	echo.NodeVerdict:    object(map[string]*echo.ContentPlace{"reason": aText}),
	echo.NodeCallout:    object(map[string]*echo.ContentPlace{"name": aText}),
	echo.NodeWarning:    object(map[string]*echo.ContentPlace{"message": aText}),
	echo.NodeGuard:      object(map[string]*echo.ContentPlace{"detail": aText}),
	echo.NodeModelCall:  object(map[string]*echo.ContentPlace{"hint": aText, "ignored": aText, "thought": someData}),
	echo.NodeInter:      object(selectedPlaces),
	echo.NodeMenu:       object(map[string]*echo.ContentPlace{"messages": listOf(object(map[string]*echo.ContentPlace{"text": aText}))}),
	echo.NodeHandoff:    handoffPlace(),
	echo.NodeChildStart: object(map[string]*echo.ContentPlace{"input": allData, "state": allData, "candidate": candidatePlace}),
	echo.NodeCandidate:  candidatePlace,
	echo.NodeBallot:     object(map[string]*echo.ContentPlace{"said": aText, "why": aText, "problem": aText}),
	echo.NodeChoice:     object(map[string]*echo.ContentPlace{"standings": standingsPlace, "person": object(map[string]*echo.ContentPlace{"said": aText, "why": aText})}),
	echo.NodeWait:       waitPlace(),
	echo.NodeAnswer:     object(map[string]*echo.ContentPlace{"value": allData}),
	echo.NodeChildEnd:   object(map[string]*echo.ContentPlace{"output": allData, "state": allData}),
}

var valuePlaces = map[echo.StepKind]*echo.ContentPlace{
	echo.StepCards: object(map[string]*echo.ContentPlace{
		"degraded": listOf(aText),
		"found": listOf(object(map[string]*echo.ContentPlace{
			"cards": listOf(object(map[string]*echo.ContentPlace{"summary": aText, "keywords": listOf(aText)})),
		})),
	}),
	echo.StepWinners:    object(map[string]*echo.ContentPlace{"texts": listOf(aText)}),
	echo.StepSimilarity: object(map[string]*echo.ContentPlace{"problem": aText}),
	echo.StepFire:       object(map[string]*echo.ContentPlace{"payload": allData, "problem": aText}),
	echo.StepArtifact:   object(map[string]*echo.ContentPlace{"title": aText, "artifact_type": aText, "tags": listOf(aText), "html": aText}),
	echo.StepMemory: object(map[string]*echo.ContentPlace{
		"text": aText, "path": aText, "seen": listOf(object(map[string]*echo.ContentPlace{"path": aText})),
		"read": memoryPlaces, "wrote": memoryPlaces,
	}),
	echo.StepMemo: object(map[string]*echo.ContentPlace{
		"text": aText, "read": listOf(object(map[string]*echo.ContentPlace{"tags": listOf(aText)})), "wrote": listOf(object(map[string]*echo.ContentPlace{"tags": listOf(aText)})),
	}),
	echo.StepBrought: object(map[string]*echo.ContentPlace{
		"problem": aText, "memos": listOf(object(map[string]*echo.ContentPlace{"text": aText, "tags": listOf(aText)})),
	}),
	echo.StepProject: object(map[string]*echo.ContentPlace{"text": aText, "problem": aText}),
	echo.StepAudible: object(map[string]*echo.ContentPlace{"text": aText, "problem": aText, "unsaid": aText}),
	echo.StepChange:  object(map[string]*echo.ContentPlace{"problem": aText}),
	echo.StepCascade: object(map[string]*echo.ContentPlace{"name": aText, "cascade": cascadePlace, "library": libraryPlace, "problem": aText}),
}

var memoryPlaces = listOf(object(map[string]*echo.ContentPlace{"path": aText, "from": aText}))

// The options and the fields of what people are asked. The name of a field is a key of the answer.
var (
	choicesPlace = listOf(object(map[string]*echo.ContentPlace{"id": aText, "label": aText, "description": aText, "style": aText}))
	fieldsPlace  = listOf(object(map[string]*echo.ContentPlace{"label": aText, "options": choicesPlace}))
)

func humanPlace() *echo.ContentPlace {
	return object(map[string]*echo.ContentPlace{
		"prompt": aPattern, "condition": aPattern, "options": choicesPlace, "fields": fieldsPlace, "default_value": allData,
	})
}

func waitPlace() *echo.ContentPlace {
	return object(map[string]*echo.ContentPlace{
		"form": object(map[string]*echo.ContentPlace{
			"question": aText, "context": aText, "options": choicesPlace, "fields": fieldsPlace, "data": allData, "html": aText,
			"images": listOf(object(map[string]*echo.ContentPlace{"name": aText})),
			"choose": object(map[string]*echo.ContentPlace{"candidates": listOf(object(map[string]*echo.ContentPlace{"text": aText, "note": aText}))}),
		}),
		"call":    object(map[string]*echo.ContentPlace{"arguments": allData, "schema": schemaPlace}),
		"default": allData, "by": object(map[string]*echo.ContentPlace{"note": aText}),
	})
}

func handoffPlace() *echo.ContentPlace {
	items := listOf(object(map[string]*echo.ContentPlace{"text": aText}))
	return object(map[string]*echo.ContentPlace{
		"task": aText, "input": aText, "progress": object(map[string]*echo.ContentPlace{"said": aText}), "done": items, "remaining": items, "blocking": items,
		"decisions": items, "files_written": listOf(aText), "continuation": aText,
		"workspace": object(map[string]*echo.ContentPlace{"files": listOf(object(map[string]*echo.ContentPlace{"path": aText})), "problem": aText}),
	})
}
