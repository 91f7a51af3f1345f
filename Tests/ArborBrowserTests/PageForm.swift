/// The forms of the page.
extension Chromium {
  /// Opens the form of an object.
  func edit(_ id: String) throws {
    let entity = id.split(separator: "/")[0]
    try evaluate("location.hash = '#/objects/\(entity)?id=\(id)'")
    try wait("document.querySelector('.detail header .code')?.innerText === '\(id)'")
    try click(".detail > .actions button")
    try exists(".edit")
  }

  /// Replaces the text of the control with a label, which is `window.control` from now on.
  func fill(_ label: String, _ text: String) throws {
    try evaluate(
      """
      {
        const label = [...document.querySelectorAll('.edit label')]
          .find((each) => each.textContent.startsWith('\(label)'));
        window.control = document.getElementById(label.htmlFor);
        control.focus();
        control.select();
      }
      """)
    // An empty text would not replace the selection.
    if text.isEmpty {
      try evaluate("document.execCommand('delete')")
    } else {
      try type(text)
    }
  }

  /// The message at the control that was filled last.
  static let problem =
    "document.getElementById(control.getAttribute('aria-describedby')).innerText"
}
