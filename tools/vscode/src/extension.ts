// The VS Code extension: starts `nnefc lsp`, and runs commands of nnefc on the document in the editor.
import * as childProcess from 'child_process';
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';
import * as vscode from 'vscode';
import { LanguageClient, State } from 'vscode-languageclient/node';

let client: LanguageClient | undefined;

// Returns the setting `nnefc.path`, the program in the extension's folder, or the name to look up in PATH.
function program(context: vscode.ExtensionContext): string {
  const named = vscode.workspace.getConfiguration('nnefc').get<string>('path', '').trim();
  if (named !== '') return named;
  const bundled = context.asAbsolutePath(path.join('server', process.platform === 'win32' ? 'nnefc.exe' : 'nnefc'));
  return fs.existsSync(bundled) ? bundled : 'nnefc';
}

function isInstalled(command: string): boolean {
  const isFile = (file: string) => fs.statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  if (command.includes(path.sep)) return isFile(command);
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => folder !== '' && isFile(path.join(folder, command)));
}

// The options of `initialize` (tools/lsp/README.md).
function serverOptions(): object {
  const settings = vscode.workspace.getConfiguration('nnefc');
  return {
    diagnosticDelay: settings.get<number>('diagnosticDelay'),
    unfinishedWordDelay: settings.get<number>('unfinishedWordDelay'),
    inlayHints: {
      shapes: settings.get<boolean>('inlayHints.shapes'),
      types: settings.get<boolean>('inlayHints.types'),
      defaults: settings.get<boolean>('inlayHints.defaults'),
    },
  };
}

async function reportMissing(command: string): Promise<void> {
  const settings = 'Choose the program', guide = 'How to install it';
  const answer = await vscode.window.showErrorMessage(`nnefc was not found: there is no program "${command}".`, settings, guide);
  if (answer === settings) await vscode.commands.executeCommand('workbench.action.openSettings', 'nnefc.path');
  if (answer === guide) await vscode.commands.executeCommand('workbench.action.openWalkthrough', 'nnefc.nnef#start');
}

async function start(context: vscode.ExtensionContext): Promise<void> {
  const command = program(context);
  if (!isInstalled(command)) {
    void reportMissing(command);  // not awaited: the message stays open
    return;
  }
  client = new LanguageClient('nnefc', 'NNEF', { command, args: ['lsp'] }, {
    documentSelector: [
      { language: 'nnef', scheme: 'file' },
      { language: 'nnef', scheme: 'untitled' },
      { scheme: 'file', pattern: '**/.nnefc.json' },
    ],
    initializationOptions: serverOptions(),
  });
  await client.start();
}

async function stop(): Promise<void> {
  const old = client;
  client = undefined;
  if (old !== undefined && old.state !== State.Stopped) await old.stop();
}

// Returns the document that a command is for, saved; undefined: there is none, which is reported.
async function savedDocument(uri?: vscode.Uri): Promise<vscode.Uri | undefined> {
  const document = uri === undefined ? vscode.window.activeTextEditor?.document : await vscode.workspace.openTextDocument(uri);
  if (document === undefined || document.languageId !== 'nnef') {
    void vscode.window.showWarningMessage('Open a NNEF document first.');
    return undefined;
  }
  if ((document.isDirty || document.isUntitled) && !(await document.save())) return undefined;
  return document.uri.scheme === 'file' ? document.uri : undefined;
}

// Runs `nnefc COMMAND FILE OPTION...` as a task: its output is in a terminal, its diagnostics among the problems.
async function execute(context: vscode.ExtensionContext, uri: vscode.Uri | undefined, command: string, options: string[]): Promise<void> {
  const document = await savedDocument(uri);
  if (document === undefined) return;
  const task = new vscode.Task({ type: 'nnefc', command }, vscode.TaskScope.Workspace, `${command} ${path.basename(document.fsPath)}`, 'nnefc',
                               new vscode.ProcessExecution(program(context), [command, document.fsPath, ...options],
                                                           { cwd: path.dirname(document.fsPath) }), '$nnefc');
  task.presentationOptions = { clear: true, showReuseMessage: false };
  await vscode.tasks.executeTask(task);
}

// Shows the page that `nnefc draw` writes of the document. It is complete: it loads nothing.
async function draw(context: vscode.ExtensionContext, uri?: vscode.Uri): Promise<void> {
  const document = await savedDocument(uri);
  if (document === undefined) return;
  const folder = await fs.promises.mkdtemp(path.join(os.tmpdir(), 'nnefc-'));
  const page = path.join(folder, 'net.html');
  try {
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: 'Drawing the graph' }, () =>
      new Promise<void>((resolve, reject) => {
        childProcess.execFile(program(context), ['draw', document.fsPath, '-o', page], { cwd: path.dirname(document.fsPath) },
                              (error, _, messages) => error === null ? resolve() : reject(new Error(messages.split('\n')[0] || error.message)));
      }));
    const panel = vscode.window.createWebviewPanel('nnefc.graph', `Graph of ${path.basename(document.fsPath)}`, vscode.ViewColumn.Beside,
                                                   { enableScripts: true, enableFindWidget: true, retainContextWhenHidden: true, localResourceRoots: [] });
    panel.webview.html = await fs.promises.readFile(page, 'utf8');
  } catch (error) {
    void vscode.window.showWarningMessage(`No graph: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await fs.promises.rm(folder, { recursive: true, force: true });
  }
}

// The tasks `nnefc: check` and `nnefc: lint` for each document of the workspace.
function taskProvider(context: vscode.ExtensionContext): vscode.TaskProvider {
  const make = (definition: vscode.TaskDefinition, scope: vscode.WorkspaceFolder | vscode.TaskScope, model: string, name: string) =>
    new vscode.Task(definition, scope, name, 'nnefc', new vscode.ProcessExecution(program(context), [definition.command, model]), '$nnefc');
  return {
    async provideTasks() {
      const most = 100;
      const documents = await vscode.workspace.findFiles('**/*.nnef', '**/node_modules/**', most);
      return documents.flatMap((uri) => ['check', 'lint'].map((command) => {
        const folder = vscode.workspace.getWorkspaceFolder(uri) ?? vscode.TaskScope.Workspace;
        const name = vscode.workspace.asRelativePath(uri);
        return make({ type: 'nnefc', command, model: name }, folder, uri.fsPath, `${command} ${name}`);
      }));
    },
    resolveTask(task) {
      const model = task.definition.model;
      if (typeof model !== 'string' || task.scope === undefined) return undefined;
      const folder = typeof task.scope === 'object' ? task.scope.uri.fsPath : '';
      return make(task.definition, task.scope, path.resolve(folder, model), task.name);
    },
  };
}

async function showExpansion(uri?: vscode.Uri): Promise<void> {
  const document = uri ?? vscode.window.activeTextEditor?.document.uri;
  if (document === undefined || client === undefined) return;
  try {
    await client.sendRequest('workspace/executeCommand', { command: 'nnefc.showExpansion', arguments: [document.toString()] });
  } catch (error) {
    void vscode.window.showWarningMessage(`No expansion: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand('nnefc.expand', showExpansion),
    vscode.commands.registerCommand('nnefc.run', (uri?: vscode.Uri) =>
      execute(context, uri, 'run', ['--random-weights', '1', '--random-inputs', '1', '--verbose'])),
    vscode.commands.registerCommand('nnefc.draw', (uri?: vscode.Uri) => draw(context, uri)),
    vscode.commands.registerCommand('nnefc.inspect', (uri?: vscode.Uri) => execute(context, uri, 'inspect', ['--costs'])),
    vscode.commands.registerCommand('nnefc.restart', async () => { await stop(); await start(context); }),
    vscode.tasks.registerTaskProvider('nnefc', taskProvider(context)),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration('nnefc')) { await stop(); await start(context); }
    }));
  await start(context);
}

export async function deactivate(): Promise<void> {
  await stop();
}
