package cascade

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade/settings"
	"github.com/windlass-run/windlass/cascade/validators"
	"github.com/windlass-run/windlass/cascade/wording"
)

type validatorRules struct{ *checker }

func (k validatorRules) checkValidators() {
	list := k.root.Key("validators")
	for _, name := range slices.Sorted(maps.Keys(k.cascade.Validators)) {
		at := list.Key(name)
		switch prefix, _, _ := strings.Cut(name, ":"); {
		case slices.Contains(validators.BuiltinNames(), prefix):
			list.KeyError(name, CodeShadowsBuiltin, fmt.Sprintf("%q is the name of a built-in validator", prefix), "choose another name")
		case strings.TrimSpace(name) == "":
			list.KeyError(name, CodeInvalidName, "a validator has no name", "give it one")
		}
		if at.Key("instructions").Blank() {
			at.Key("instructions").Error(CodeInvalidValue, "the instructions of "+describe(at)+" are empty", "say what the model is to judge")
		}
		settings.CheckModel(at, "model")
		k.templates.check(k.templates.in(at.Key("instructions")), k.cascade.Validators[name].Instructions)
	}
}

func (k validatorRules) checkValidatorRef(at place, text string) {
	v, err := k.cascade.ParseValidator(text)
	var unknown *validators.UnknownError
	switch {
	case errors.As(err, &unknown):
		k.checkJudge(at, text, err)
	case v.Kind == ValidatorCascade:
		childRules(k).checkJudge(at, k.cascade.Reaches[text])
	case v.Kind == ValidatorTool:
		peopleRules(k).checkJudge(at, v.Name)
	case err != nil:
		at.Error(CodeInvalidValidator, err.Error(), "the built-in validators are "+strings.Join(validators.Builtins(), ", "))
	case v.Kind == ValidatorCommand:
		k.templates.checkFrom(TemplateCommand, at, strings.TrimSuffix(text, v.Command), v.Command)
	}
}

// checkJudge looks for a cascade that is the validator of this name.
func (k validatorRules) checkJudge(at place, name string, unknown error) {
	if k.blind() || at.Document().Full() {
		return
	}
	r, problem := k.resolve(name)
	switch {
	case problem != nil && problem.NotFound && k.known.Resolve != nil:
		at.Error(CodeUnknownValidator, unknown.Error(), cmp.Or(wording.Meant(name, k.validatorNames()), problem.Hint, k.validatorHint(name)))
	case problem != nil && problem.NotFound && isCascadeFile(name):
		at.Error(CodeUnknownValidator, unknown.Error()+": "+problem.Message, problem.Hint)
	case problem != nil && problem.NotFound:
		at.Error(CodeUnknownValidator, unknown.Error(), k.validatorHint(name))
	case problem != nil:
		broken(at, fmt.Sprintf("the validator %q", name), problem)
	default:
		childRules(k).checkJudge(at, r)
	}
}

func isCascadeFile(name string) bool {
	return slices.ContainsFunc([]string{".json", ".yaml", ".yml"}, func(ext string) bool { return strings.HasSuffix(name, ext) })
}

func (k validatorRules) validatorHint(name string) string {
	return cmp.Or(wording.Meant(name, k.validatorNames()), wording.KnownNames("there are ", slices.Concat(k.ownValidators(), validators.Builtins())))
}

func (k validatorRules) validatorNames() []string {
	return slices.Concat(k.ownValidators(), validators.BuiltinNames())
}

// ownValidators are the names of the cascade's own validators and tools.
func (k validatorRules) ownValidators() []string {
	own := slices.Sorted(maps.Keys(k.cascade.Validators))
	for _, t := range k.cascade.Tools {
		own = append(own, t.ToolID)
	}
	return own
}
