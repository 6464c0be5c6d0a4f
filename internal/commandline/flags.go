package commandline

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// FlagError says what is wrong with the value of a flag without the words of Go's parsers.
func FlagError(err error) error {
	var value *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &value) || !errors.As(err, &number) {
		return err
	}
	why := "it is no number"
	switch kind := value.GetFlag().Value.Type(); {
	case kind == "bool":
		why = "it is neither true nor false"
	case errors.Is(number, strconv.ErrRange):
		why = "the number is too large"
	case kind != "float64":
		why = "it is no whole number"
	}
	return fmt.Errorf("invalid argument %q for \"--%s\" flag: %s", value.GetValue(), value.GetFlag().Name, why)
}
