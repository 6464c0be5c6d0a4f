package cascade

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

type validatorRules struct{ *checker }

func (k validatorRules) checkValidators() {
	list := k.root.key("validators")
	for _, name := range slices.Sorted(maps.Keys(k.cascade.Validators)) {
		at := list.key(name)
		switch prefix, _, _ := strings.Cut(name, ":"); {
		case slices.Contains(builtinValidatorNames(), prefix):
			list.keyError(name, CodeShadowsBuiltin, fmt.Sprintf("%q is the name of a built-in validator", prefix), "choose another name")
		case strings.TrimSpace(name) == "":
			list.keyError(name, CodeInvalidName, "a validator has no name", "give it one")
		}
		if blank(at.key("instructions")) {
			at.key("instructions").error(CodeInvalidValue, "the instructions of "+describe(at)+" are empty", "say what the model is to judge")
		}
		checkModel(at, "model")
		k.templates.check(at.key("instructions"), k.cascade.Validators[name].Instructions)
	}
}

func (k validatorRules) checkValidatorRef(at place, text string) {
	v, err := k.cascade.ParseValidator(text)
	var unknown *UnknownValidatorError
	switch {
	case errors.As(err, &unknown) && isCascadeFile(text):
		at.error(CodeNotSupportedYet, fmt.Sprintf("a cascade as a validator (%q) is not supported yet by this version of windlass", text), "use a tool or a command")
	case errors.As(err, &unknown):
		at.error(CodeUnknownValidator, err.Error(), k.validatorHint(text))
	case err != nil:
		at.error(CodeInvalidValidator, err.Error(), "the built-in validators are "+strings.Join(BuiltinValidators(), ", "))
	case v.Kind == ValidatorCommand:
		k.templates.checkFrom(TemplateCommand, at, strings.TrimSuffix(text, v.Command), v.Command)
	}
}

func isCascadeFile(name string) bool {
	return slices.ContainsFunc([]string{".json", ".yaml", ".yml"}, func(ext string) bool { return strings.HasSuffix(name, ext) })
}

func (k validatorRules) validatorHint(name string) string {
	own := slices.Sorted(maps.Keys(k.cascade.Validators))
	for _, t := range k.cascade.Tools {
		own = append(own, t.ToolID)
	}
	return cmp.Or(meant(name, slices.Concat(own, builtinValidatorNames())), knownNames("there are ", slices.Concat(own, BuiltinValidators())))
}

func builtinValidatorNames() []string {
	var names []string
	for _, v := range BuiltinValidators() {
		name, _, _ := strings.Cut(v, ":")
		names = append(names, name)
	}
	return names
}
