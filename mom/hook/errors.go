package hook

// A SyntaxError says why a script does not compile.
type SyntaxError struct{ Text string }

// Error returns the interpreter's words.
func (e *SyntaxError) Error() string { return e.Text }
