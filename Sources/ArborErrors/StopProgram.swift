internal import ArborFoundation

/// Writes a message about a programming error to the standard error stream, then stops the program.
///
/// `preconditionFailure` alone prints nothing in a release build.
package func stopProgram(
  _ message: String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
  var text = "\(file):\(line): \(message)\n"
  _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  preconditionFailure(file: file, line: line)
}
