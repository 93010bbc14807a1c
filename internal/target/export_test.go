package target

// UseGuard makes Start end servers through a guard, as where there is no
// parent-death signal.
func UseGuard(on bool) { useGuard = on }

// CA is the authority that s is verified with, PEM.
func CA(s *Server) string { return s.CA }
