package effect

import "github.com/windlass-run/windlass/echo"

// answerReading makes an entry say what was recorded, unless that does not fit the reading taken
// now. A recorded selection names messages by their hashes: as long as there are as many, they are
// the same ones in other words.
func answerReading(e, was *echo.Entry, now echo.Payload) {
	switch now := now.(type) {
	case echo.InterSelection:
		if answer, err := echo.Read[echo.InterSelection](was); err == nil && fitSelection(&answer, &now) {
			e.Set(answer)
		}
	case echo.Findings:
		if answer, err := echo.Read[echo.Findings](was); err == nil && fitFindings(&answer, &now) {
			e.Set(answer)
		}
	default:
		e.Data = was.Data
	}
}

// fitSelection gives the groups of a recorded selection the hashes that they have now. It reports
// false when there are not as many.
func fitSelection(was, now *echo.InterSelection) bool {
	if len(was.Scores) != len(now.Scores) {
		return false
	}
	for i := range was.Scores {
		was.Scores[i].ID = now.Scores[i].ID
	}
	was.Anchors = now.Anchors
	return true
}

// fitFindings does that for the cards of recorded findings.
func fitFindings(was, now *echo.Findings) bool {
	if len(was.Found) != len(now.Found) {
		return false
	}
	for i := range was.Found {
		cards := was.Found[i].Cards
		if len(cards) != len(now.Found[i].Cards) {
			return false
		}
		for j := range cards {
			cards[j].Hash = now.Found[i].Cards[j].Hash
		}
	}
	return true
}
