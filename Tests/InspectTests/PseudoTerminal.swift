import Foundation
import TestSupport

#if canImport(Glibc)
  import Glibc
#endif

/// A program in a pseudoterminal that a test writes to and reads from.
final class PseudoTerminal {
  private let main: Int32
  private let program: StartedProgram
  private var screen: VirtualScreen
  /// Everything that the program has written.
  private(set) var output: [UInt8] = []

  struct NoTerminal: Error {}

  // `posix_openpt` and `ptsname` are unavailable in Swift; these are TIOCSPTLCK and TIOCGPTN from
  // asm-generic/ioctls.h.
  private static let unlock: UInt = 0x4004_5431
  private static let number: UInt = 0x8004_5430

  /// - Parameters:
  ///   - script: A shell script that starts the program `$@` in the terminal `$TTY`.
  ///   - environment: Additional environment variables for the shell.
  init(
    _ executable: URL, _ arguments: [String], rows: Int = 12, columns: Int = 60,
    script: String = "exec setsid -c \"$@\" <\"$TTY\" >\"$TTY\" 2>&1",
    environment: [String: String] = [:]
  ) throws {
    main = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var lock: Int32 = 0
    var number: UInt32 = 0
    guard main >= 0, ioctl(main, Self.unlock, &lock) == 0, ioctl(main, Self.number, &number) == 0
    else { throw NoTerminal() }
    let path = "/dev/pts/\(number)"
    screen = VirtualScreen(rows: rows, columns: columns)
    // The program is a session leader with this controlling terminal, as in a shell.
    program = try StartedProgram(
      URL(filePath: "/bin/sh"),
      ["-c", script, "sh", executable.path] + arguments,
      environment: ["TTY": path, "TERM": "xterm-256color"].merging(environment) { $1 })
    setSize(rows: rows, columns: columns)
  }

  deinit { close(main) }

  private func setSize(rows: Int, columns: Int) {
    var size = winsize()
    size.ws_row = UInt16(rows)
    size.ws_col = UInt16(columns)
    _ = ioctl(main, UInt(TIOCSWINSZ), &size)
  }

  /// Resizes the terminal, of which the system notifies the program.
  func resize(rows: Int, columns: Int) {
    screen = VirtualScreen(rows: rows, columns: columns)
    setSize(rows: rows, columns: columns)
  }

  /// Writes key presses to the program.
  func press(_ keys: String) {
    let bytes = Array(keys.utf8)
    _ = write(main, bytes, bytes.count)
  }

  /// Waits until the screen satisfies a condition or a timeout expires; returns the screen in
  /// either case.
  @discardableResult
  func wait(_ condition: (VirtualScreen) -> Bool) -> VirtualScreen {
    let end = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < end {
      if condition(screen) { return screen }
      guard readMore() else { break }
    }
    return screen
  }

  func signal(_ number: Int32) { kill(program.identifier, number) }

  /// Waits for the program to end; returns its exit code.
  func waitForEnd() -> Int32 {
    let end = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < end, readMore() {}
    return program.wait()
  }

  /// Processes output for up to a tenth of a second; returns `false` if the program has ended.
  private func readMore() -> Bool {
    var polled = pollfd(fd: main, events: Int16(POLLIN), revents: 0)
    guard poll(&polled, 1, 100) > 0 else { return true }
    var bytes = [UInt8](repeating: 0, count: 1 << 14)
    let count = read(main, &bytes, bytes.count)
    // The system reports EIO before the program has opened its end and after it has closed it.
    if count <= 0 {
      if output.isEmpty {
        usleep(10_000)
        return true
      }
      return false
    }
    output += bytes.prefix(count)
    screen.take(bytes.prefix(count))
    return true
  }
}

/// The screen of a terminal that supports the few control sequences that the program uses.
struct VirtualScreen {
  let columns: Int
  private var cells: [[Character]]
  private var inverse: [[Bool]]
  private(set) var row = 0
  private(set) var column = 0
  private(set) var isCursorShown = true
  private(set) var isOther = false
  /// Whether long lines wrap.
  private(set) var wraps = true
  private var isReversed = false
  private var pending: [UInt8] = []
  /// The texts sent to the clipboard.
  private(set) var copies: [String] = []
  /// Unsupported control sequences.
  private(set) var strange: [String] = []

  init(rows: Int, columns: Int) {
    self.columns = columns
    cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
    inverse = Array(repeating: Array(repeating: false, count: columns), count: rows)
  }

  /// The lines without trailing spaces. A wide character is followed by an empty cell.
  var lines: [String] {
    cells.map {
      String(String($0.filter { $0 != "\u{0}" }).reversed().drop { $0 == " " }.reversed())
    }
  }

  /// The lines with reversed text.
  var reversedLines: [String] {
    zip(lines, inverse).filter { $0.1.contains(true) }.map(\.0)
  }

  var bottom: String { lines.last ?? "" }

  mutating func take(_ bytes: ArraySlice<UInt8>) {
    pending += bytes
    while let first = pending.first {
      if first == 0x1B {
        guard pending.count > 2 else { return }
        if pending[1] == UInt8(ascii: "]") {
          guard let end = pending.firstIndex(of: 7) else { return }
          copy(String(decoding: pending[2..<end], as: UTF8.self))
          pending.removeSubrange(0...end)
          continue
        }
        guard let end = pending[2...].firstIndex(where: { (0x40...0x7E).contains($0) }) else {
          return
        }
        obey(String(decoding: pending[2..<end], as: UTF8.self), pending[end])
        pending.removeSubrange(0...end)
        continue
      }
      let length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
      guard pending.count >= length else { return }
      let text = String(decoding: pending.prefix(length), as: UTF8.self)
      pending.removeFirst(length)
      show(text)
    }
  }

  /// Takes the sequence OSC 52.
  private mutating func copy(_ text: String) {
    guard text.hasPrefix("52;c;"), let data = Data(base64Encoded: String(text.dropFirst(5))) else {
      strange.append(text)
      return
    }
    copies.append(String(decoding: data, as: UTF8.self))
  }

  private mutating func show(_ text: String) {
    switch text {
    case "\r": column = 0
    case "\n": row = min(row + 1, cells.count - 1)
    default:
      guard let character = text.first, let scalar = text.unicodeScalars.first else { return }
      if scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) {
        strange.append("control \(scalar.value)")
        return
      }
      if scalar.properties.generalCategory == .nonspacingMark, column > 0 {
        cells[row][column - 1] = Character(String(cells[row][column - 1]) + text)
        return
      }
      let width = scalar.value >= 0x2E80 && scalar.value < 0xFFDC ? 2 : 1
      guard column + width <= columns else {
        strange.append("too long: \(text)")
        return
      }
      cells[row][column] = character
      inverse[row][column] = isReversed
      if width == 2 { cells[row][column + 1] = "\u{0}" }
      column += width
    }
  }

  private mutating func obey(_ arguments: String, _ final: UInt8) {
    let numbers = arguments.split(separator: ";").compactMap { Int($0) }
    switch Character(UnicodeScalar(final)) {
    case "H":
      row = min(cells.count, max(1, numbers.first ?? 1)) - 1
      column = min(columns, max(1, numbers.count > 1 ? numbers[1] : 1)) - 1
    case "K":
      for rest in column..<columns {
        cells[row][rest] = " "
        inverse[row][rest] = false
      }
    case "J": self.erase()
    case "m": isReversed = arguments == "7" || (isReversed && arguments != "0")
    case "h" where arguments == "?25": isCursorShown = true
    case "l" where arguments == "?25": isCursorShown = false
    case "h" where arguments == "?7": wraps = true
    case "l" where arguments == "?7": wraps = false
    case "h" where arguments == "?1049": isOther = true
    case "l" where arguments == "?1049": isOther = false
    default: strange.append("\(arguments)\(Character(UnicodeScalar(final)))")
    }
  }

  private mutating func erase() {
    for row in cells.indices {
      for column in 0..<columns {
        cells[row][column] = " "
        inverse[row][column] = false
      }
    }
  }
}
