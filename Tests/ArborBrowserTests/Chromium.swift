import ArborJSON
import ArborModel
import Foundation
import TestSupport
import Testing

/// A headless web browser, driven over the Chrome DevTools Protocol.
///
/// Has one process, which ends with the object, and a tab. Tests that need it run if Chromium is
/// installed; the Debian package is `chromium`.
final class Chromium {
  static let executable = [
    "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome",
  ]
  .map { URL(filePath: $0) }.first { FileManager.default.isExecutableFile(atPath: $0.path) }
  /// The folder for screenshots for manual review; `nil` for none.
  static let pictures = ProcessInfo.processInfo.environment["ARBOR_SCREENSHOTS"]
    .map { URL(filePath: $0) }

  private let folder: TemporaryFolder
  private let program: StartedProgram
  private let socket: WebSocket
  private var session: String?
  private var count: Int64 = 0
  /// Problems in the page: exceptions, policy violations, dialogs, and requests to other servers.
  private(set) var complaints: [String] = []

  struct Failure: Error, CustomStringConvertible {
    let description: String

    /// Whether an expression was not evaluated because the page is being loaded.
    var isOfNavigation: Bool {
      description.contains("navigated or closed") || description.contains("context")
    }
  }

  init(width: Int = 1280, height: Int = 800, isDark: Bool = false) throws {
    folder = try TemporaryFolder()
    program = try StartedProgram(
      try #require(Self.executable),
      [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--no-first-run", "--disable-extensions", "--disable-background-networking",
        "--remote-debugging-port=0", "--user-data-dir=\(folder.url.path)", "about:blank",
      ])
    let (port, path) = try Self.address(in: folder)
    socket = try WebSocket(port: port, path: path)
    _ = try openTab()
    try resize(width, height, isDark: isDark)
  }

  /// Starts a browser that shows the page of a store, and waits for its schema.
  convenience init(showing url: URL) throws {
    try self.init()
    try open(url)
    try exists(".box")
  }

  /// Opens a tab, which the other functions address from now on. Returns its target.
  private func openTab() throws -> JSONValue {
    session = nil
    let target = try call("Target.createTarget", ["url": "about:blank"])["targetId"] ?? .null
    let attached = try call("Target.attachToTarget", ["targetId": target, "flatten": true])
    session = attached["sessionId"]?.string
    for domain in ["Page", "Runtime", "Log", "Network"] { try call("\(domain).enable") }
    try call("Page.addScriptToEvaluateOnNewDocument", ["source": .string(Self.shiftWatch)])
    return target
  }

  /// Opens a URL in a second tab, which the other functions address until `body` returns.
  func inNewTab(_ url: URL, _ body: () throws -> Void) throws {
    let first = session
    defer { session = first }
    let target = try openTab()
    try open(url)
    try body()
    try call("Target.closeTarget", ["targetId": target])
  }

  deinit {
    session = nil
    _ = try? call("Browser.close")
    program.kill()
    _ = program.wait()
  }

  /// Records how far elements moved without input, and which.
  ///
  /// Chromium excuses what moves within half a second after input. On a busy machine, the answer to
  /// the input takes longer, so the time during which the page waited for the server or for its
  /// thread doesn't count.
  private static let shiftWatch = """
    window.shifts = 0;
    window.moved = new Set();
    {
      const period = 20;
      let [lastInput, waited, lastLook, requests] = [-Infinity, 0, performance.now(), 0];
      const look = () => {
        const now = performance.now();
        const passed = now - lastLook;
        waited += requests > 0 ? passed : Math.max(0, passed - 2 * period);
        lastLook = now;
      };
      setInterval(look, period);
      for (const input of ["pointerdown", "pointerup", "keydown", "keyup"]) {
        addEventListener(input, () => {
          look();
          [lastInput, waited] = [performance.now(), 0];
        }, true);
      }
      const fetch = window.fetch;
      window.fetch = async (...request) => {
        look();
        requests += 1;
        try {
          return await fetch(...request);
        } finally {
          look();
          requests -= 1;
        }
      };
      const isUnexpected = (shift) =>
        !shift.hadRecentInput && shift.startTime - lastInput > 500 + waited;
      new PerformanceObserver((list) => {
        look();
        for (const each of list.getEntries().filter(isUnexpected)) {
          window.shifts += each.value;
          for (const { node, previousRect: from, currentRect: to } of each.sources) {
            const element = node?.nodeType === Node.TEXT_NODE ? node.parentElement : node;
            const name = element ? `${element.localName}.${element.className}` : "removed";
            const place = ({ x, y, width, height }) => [x, y, width, height].join(" ");
            window.moved.add(`${name} (${place(from)}) → (${place(to)})`);
          }
        }
      }).observe({ type: "layout-shift", buffered: true });
    }
    """

  private static func address(in folder: TemporaryFolder) throws -> (port: Int, path: String) {
    let file = folder.url.appending(path: "DevToolsActivePort")
    let began = ContinuousClock.now
    while began.duration(to: .now) < .seconds(60) {
      let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? []
      if lines.count == 2, let port = Int(lines[0]) { return (port, String(lines[1])) }
      Thread.sleep(forTimeInterval: 0.02)
    }
    throw Failure(description: "Chromium does not start.")
  }

  // MARK: The protocol

  @discardableResult
  func call(_ method: String, _ parameters: JSONObject = [:]) throws -> JSONValue {
    count += 1
    let own = count
    var message: JSONObject = [
      "id": .number(JSONNumber(own)), "method": .string(method), "params": .object(parameters),
    ]
    if let session { message["sessionId"] = .string(session) }
    try socket.send(JSONValue.object(message).text(.compact))
    while true {
      let answer = try JSONValue.parse(socket.receive())
      if answer["id"]?.int64 == own {
        if let error = answer["error"] { throw Failure(description: "\(method): \(error)") }
        return answer["result"] ?? .null
      }
      note(answer)
    }
  }

  private func note(_ event: JSONValue) {
    let parameters = event["params"]
    switch event["method"]?.string {
    case "Runtime.exceptionThrown":
      complaints.append("exception: \(parameters?["exceptionDetails"] ?? .null)")
    case "Log.entryAdded":
      // Rejected requests are responses that the page displays.
      let entry = parameters?["entry"]
      if entry?["source"] != "network" { complaints.append("log: \(entry?["text"] ?? .null)") }
    case "Page.javascriptDialogOpening":
      complaints.append("dialog: \(parameters?["message"] ?? .null)")
    case "Network.requestWillBeSent":
      let url = parameters?["request"]?["url"]?.string ?? ""
      if !["http://127.0.0.1:", "blob:", "about:", "data:"].contains(where: url.hasPrefix) {
        complaints.append("request: \(url)")
      }
    default: break
    }
  }

  // MARK: The page

  func open(_ url: URL) throws { try call("Page.navigate", ["url": .string(url.absoluteString)]) }

  /// Loads the page again. `window.isFormer` is set until then.
  func reload() throws {
    try evaluate("window.isFormer = true")
    try call("Page.reload")
  }

  func resize(_ width: Int, _ height: Int, isDark: Bool = false) throws {
    try call(
      "Emulation.setDeviceMetricsOverride",
      [
        "width": .number(JSONNumber(Int64(width))), "height": .number(JSONNumber(Int64(height))),
        "deviceScaleFactor": 1, "mobile": .bool(width < 500),
      ])
    try call(
      "Emulation.setEmulatedMedia",
      ["features": [["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]]])
  }

  /// Evaluates an expression, awaiting it if it is a promise, and returns its value.
  @discardableResult
  func evaluate(_ script: String) throws -> JSONValue {
    let answer = try call(
      "Runtime.evaluate",
      ["expression": .string(script), "awaitPromise": true, "returnByValue": true])
    if let details = answer["exceptionDetails"] { throw Failure(description: "\(details)") }
    return answer["result"]?["value"] ?? .null
  }

  /// Waits until an expression is true. Throws an error with the page's text if it times out.
  func wait(_ script: String, seconds: Int = 30) throws {
    let began = ContinuousClock.now
    while began.duration(to: .now) < .seconds(seconds) {
      do {
        if try evaluate("Boolean(\(script))") == true { return }
      } catch let failure as Failure where failure.isOfNavigation {
        // The page is being loaded again.
      }
      Thread.sleep(forTimeInterval: 0.01)
    }
    let text = try evaluate("document.body.innerText").string ?? ""
    throw Failure(description: "Never true: \(script)\n\(complaints)\n\(text.prefix(1000))")
  }

  func exists(_ selector: String) throws { try wait("document.querySelector(`\(selector)`)") }

  /// Returns the text of the first element that matches a selector, or an empty string.
  func text(_ selector: String) throws -> String {
    try evaluate("document.querySelector(`\(selector)`)?.innerText ?? ''").string ?? ""
  }

  private static let keyCodes: [String: Int64] = [
    "Tab": 9, "Enter": 13, "Escape": 27, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36,
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
    "F10": 121,
  ]

  /// Presses and releases a key.
  func press(
    _ key: String, control: Bool = false, shift: Bool = false, alt: Bool = false
  ) throws {
    let code = Self.keyCodes[key] ?? Int64(key.uppercased().utf8.first ?? 0)
    var event: JSONObject = [
      "type": "keyDown", "key": .string(key), "code": .string(key),
      "windowsVirtualKeyCode": .number(JSONNumber(code)),
      "modifiers": .number(JSONNumber((alt ? 1 : 0) | (control ? 2 : 0) | (shift ? 8 : 0))),
    ]
    if !control { event["text"] = key == "Enter" ? "\r" : key.count == 1 ? .string(key) : nil }
    try call("Input.dispatchKeyEvent", event)
    event["type"] = "keyUp"
    event["text"] = nil
    try call("Input.dispatchKeyEvent", event)
  }

  /// Sends one event of the left mouse button.
  func mouse(_ type: String, _ x: Double, _ y: Double) throws {
    func number(_ value: Double) throws -> JSONValue { .number(try #require(JSONNumber(value))) }
    try call(
      "Input.dispatchMouseEvent",
      [
        "type": .string(type), "x": number(x), "y": number(y), "button": "left", "buttons": 1,
        "clickCount": 1,
      ])
  }

  /// Types text into the focused element.
  func type(_ text: String) throws { try call("Input.insertText", ["text": .string(text)]) }

  func click(_ selector: String) throws {
    try exists(selector)
    try evaluate("document.querySelector(`\(selector)`).click()")
  }

  /// Saves a screenshot of the page if the environment specifies a folder.
  func picture(_ name: String) throws {
    guard let folder = Self.pictures else { return }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let answer = try call("Page.captureScreenshot", ["format": "png"])
    let data = try #require(answer["data"]?.string.flatMap { Data(base64Encoded: $0) })
    try data.write(to: folder.appending(path: "\(name).png"))
  }
}
