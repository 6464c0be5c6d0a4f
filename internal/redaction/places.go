package redaction

import "github.com/windlass-run/windlass/echo"

// Where the content is of a cascade and of what entries say: a list of what is taken out, so that
// what is added to either stays until it is named here.

var (
	aText    = &place{is: text}
	aPattern = &place{is: pattern}
	allData  = &place{is: data}
	someData = &place{is: given}
)

func object(members map[string]*place) *place { return &place{members: members} }

func listOf(p *place) *place { return object(map[string]*place{"*": p}) }

var (
	schemaPlace  = newSchemaPlace()
	inputsPlace  = &place{is: inputs, members: map[string]*place{"*": aText}}
	cascadePlace = newCascadePlace()
)

func newSchemaPlace() *place {
	s := &place{}
	named := listOf(s)
	s.members = map[string]*place{
		"title": aText, "description": aText, "$comment": aText, "default": someData, "examples": someData,
	}
	for _, key := range []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "prefixItems", "allOf", "anyOf", "oneOf"} {
		s.members[key] = named
	}
	for _, key := range []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"} {
		s.members[key] = s
	}
	return s
}

func newCascadePlace() *place {
	phase := &place{}
	phase.members = map[string]*place{
		"instructions": aPattern, "inputs": {is: given}, "output_schema": schemaPlace, "on_error": phase,
		"rules":    object(map[string]*place{"loop_until_prompt": aPattern, "retry_instructions": aPattern, "turn_prompt": aPattern}),
		"handoffs": listOf(object(map[string]*place{"description": aText})),
		"callouts": object(map[string]*place{"output": aPattern, "messages": aPattern}),
		"context":  object(map[string]*place{"from": listOf(object(map[string]*place{"condition": aPattern}))}),
	}
	tool := object(map[string]*place{
		"description": aText, "inputs_schema": inputsPlace, "command": aPattern, "url": aPattern, "headers": listOf(aPattern), "body": aPattern,
	})
	return object(map[string]*place{
		"description": aText, "inputs_schema": inputsPlace, "tools": listOf(tool), "phases": listOf(phase),
		"validators": listOf(object(map[string]*place{"instructions": aPattern})),
	})
}

// contentOf returns the content of what an entry says, nil when all of it is structure.
func contentOf(e *echo.Entry) *place {
	if e.NodeType == echo.NodeValue {
		p := e.Key.Path()
		return valuePlaces[p.Last().Kind]
	}
	return dataPlaces[e.NodeType]
}

var selectedPlaces = map[string]*place{"why": aText, "notes": listOf(aText), "ignored": listOf(aText), "degraded": listOf(aText)}

var dataPlaces = map[echo.NodeType]*place{
	echo.NodePhaseEnd:  object(map[string]*place{"output": allData}),
	echo.NodeRunEnd:    object(map[string]*place{"output": allData}),
	echo.NodeState:     object(map[string]*place{"value": allData}),
	echo.NodeVerdict:   object(map[string]*place{"reason": aText}),
	echo.NodeCallout:   object(map[string]*place{"name": aText}),
	echo.NodeWarning:   object(map[string]*place{"message": aText}),
	echo.NodeGuard:     object(map[string]*place{"detail": aText}),
	echo.NodeModelCall: object(map[string]*place{"hint": aText}),
	echo.NodeInter:     object(selectedPlaces),
	echo.NodeMenu:      object(map[string]*place{"messages": listOf(object(map[string]*place{"text": aText}))}),
	echo.NodeHandoff:   handoffPlace(),
}

var valuePlaces = map[echo.StepKind]*place{
	echo.StepCards: object(map[string]*place{
		"degraded": listOf(aText),
		"found": listOf(object(map[string]*place{
			"cards": listOf(object(map[string]*place{"summary": aText, "keywords": listOf(aText)})),
		})),
	}),
	echo.StepSimilarity: object(map[string]*place{"problem": aText}),
}

func handoffPlace() *place {
	items := listOf(object(map[string]*place{"text": aText}))
	return object(map[string]*place{
		"task": aText, "input": aText, "progress": object(map[string]*place{"said": aText}), "done": items, "remaining": items, "blocking": items,
		"decisions": items, "files_written": listOf(aText), "continuation": aText,
		"workspace": object(map[string]*place{"files": listOf(object(map[string]*place{"path": aText})), "problem": aText}),
	})
}
