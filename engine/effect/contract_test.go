package effect_test

import (
	"testing"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/effect/effecttest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	live := func(_ testing.TB, w *effecttest.World, log *echo.Log, _ []*echo.Entry) effect.Effects {
		return effect.NewLive(w, w, effect.Writer{Log: log}, nil)
	}
	for name, s := range map[string]effecttest.Subject{
		"live": {New: live, Asks: true, Records: true},
		"answered": {
			New: func(_ testing.TB, _ *effecttest.World, log *echo.Log, recorded []*echo.Entry) effect.Effects {
				return effect.NewAnswered(log, recorded)
			},
			Records: true,
		},
		"replayed": {New: func(_ testing.TB, _ *effecttest.World, _ *echo.Log, recorded []*echo.Entry) effect.Effects {
			return effect.NewRecorder(effect.Options{Recording: recorded})
		}},
		"resumed where the recording ends": {
			New: func(t testing.TB, w *effecttest.World, log *echo.Log, _ []*echo.Entry) effect.Effects {
				return effect.NewRecorder(effect.Options{Log: log, Effects: live(t, w, log, nil)})
			},
			Asks: true, Records: true,
		},
		"resumed where all is recorded": {New: func(t testing.TB, w *effecttest.World, log *echo.Log, recorded []*echo.Entry) effect.Effects {
			return effect.NewRecorder(effect.Options{Log: log, Recording: recorded, Effects: live(t, w, log, nil)})
		}},
		"foreign": {
			New: func(t testing.TB, w *effecttest.World, log *echo.Log, _ []*echo.Entry) effect.Effects {
				return effecttest.StartForeign(t, w, w, effect.Writer{Log: log})
			},
			Asks: true, Records: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			effecttest.Test(t, s)
		})
	}
}
